//! Smooths a curve: each element becomes the mean of itself and its neighbours, whoever owns them.

use neststep::neststep;
use superstep::Block;

neststep! {
    fn smooth(sh a: [f64]</>, sh b: [f64]</>) {
        step forall (i, a, 1, len(a) - 2) { b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0; }
    }
}

fn main() -> superstep::Result {
    superstep::run(|g| {
        let (curve, smoother) = (g.array::<f64, Block>(7), g.array::<f64, Block>(7));
        curve.forall_mut(|i, x| *x = (3 * i * i) as f64);
        smooth(g, &curve, &smoother);
        let all = g.step(|s| s.mirror(&smoother, ..));
        g.leader(|| println!("{all:?}"));
        assert_eq!(all[..], [0.0, 5.0, 14.0, 29.0, 50.0, 77.0, 0.0]);
    })
}
