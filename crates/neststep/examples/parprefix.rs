//! Parallel prefix sums: figure 2 of the first paper, and the form that the second one has.

use neststep::neststep;

neststep! {
    fn parprefix(sh a: [i64]</>) {
        let mut pre = Vec::new();
        let mut myoffset = 0;
        sh sum: i64 = 0;
        step {
            sum = 0;
            forall (i, a) { pre.push(sum); sum += a[i]; }
        } combine (sum<+ : myoffset>)
        let mut j = 0;
        step forall (i, a) { a[i] = pre[j] + myoffset; j += 1 }
    }

    /// Includes each element itself, and works on a mirrored section.
    fn inclusive(sh a: [i64]</>) {
        let mut pre: Vec<i64> = Vec::new();
        let mut myoffset = 0;
        sh sum: i64;
        let ndp = len(a) / #;
        step {
            pre = a[$ * ndp : ($ + 1) * ndp - 1];
            for i in 1..pre.len() { pre[i] += pre[i - 1]; }
            sum = pre[pre.len() - 1];
        } combine (sum<+ : myoffset>)
        step {
            for x in &mut pre { *x += myoffset; }
            a[$ * ndp : ($ + 1) * ndp - 1] = pre;
        }
    }

    fn main() {
        sh a: [i64; 4 * #]</>;
        sh b: [i64; 4 * #]</>;
        forall (i, a) a[i] = i as i64 + 1;
        forall (i, b) b[i] = i as i64 + 1;
        parprefix(a);
        inclusive(b);
        step forall (i, a) {
            let n = i as i64;
            assert_eq!(a[i], n * (n + 1) / 2);
        }
        step forall (i, b) {
            let n = i as i64 + 1;
            assert_eq!(b[i], n * (n + 1) / 2);
        }
        seq println!("prefix sums of {} elements", len(a));
    }
}
