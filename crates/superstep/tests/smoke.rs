//! tmp
use superstep::*;
#[test]
fn it_works() {
    testing::everywhere(|g| {
        let (sum, pre, cnt) = g.step(|s| (s.reduce(s.rank() as u64, Sum), s.prefix(1u32, Sum), s.collect(s.rank())));
        let p = g.size();
        assert_eq!(sum as usize, p * (p - 1) / 2);
        assert_eq!(pre as usize, g.rank());
        assert_eq!(cnt, (0..p).collect::<Vec<_>>());
        let a = g.area::<u64>(4);
        g.step(|s| s.put((s.rank() + 1) % p, &[s.rank() as u64], &a, 1));
        assert_eq!(a.local()[1] as usize, (g.rank() + p - 1) % p);
        let v = g.step(|s| {
            s.put((s.rank() + 1) % p, &[7u64], &a, 1);
            s.get((s.rank() + 1) % p, &a, 1..2)
        });
        assert_eq!(v[0] as usize, g.rank());
        assert_eq!(a.local()[1], 7);
        a.local_mut().fill(g.rank() as u64);
        g.step(|s| s.hp_put((s.rank() + 1) % p, (&a, 0..4), &a, 0));
        assert_eq!(a.local()[3] as usize, (g.rank() + p - 1) % p);
        g.step(|s| s.hp_get((s.rank() + 1) % p, &a, 0..2, &a, 2));
        assert_eq!(a.local()[3] as usize, g.rank());
        let big = g.step(|s| s.broadcast(p - 1, Some(vec![s.rank() as f64; 10000])));
        assert_eq!(big, vec![(p - 1) as f64; 10000]);
        let x = g.shared(5, Sum);
        let got = g.split(2, |sub| {
            x.set(1);
            for _ in 0..sub.rank() {
                sub.step(|_| ());
            }
            if sub.rank() == 0 {
                return 0;
            }
            sub.size()
        });
        assert_eq!(x.get() as usize, p);
        let _ = got;
        let ex = g.step(|s| s.exchange((0..p).map(|t| vec![s.rank() * 100 + t; t]).collect()));
        assert_eq!(ex, (0..p).map(|f| vec![f * 100 + g.rank(); g.rank()]).collect::<Vec<_>>());
        let q = g.queue::<u8, String>();
        g.step(|s| {
            for t in 0..p {
                s.send(&q, t, 1, format!("{}", s.rank()))
            }
        });
        assert_eq!(q.drain().map(|m| m.1).collect::<Vec<_>>(), (0..p).map(|r| r.to_string()).collect::<Vec<_>>());
    });
}
