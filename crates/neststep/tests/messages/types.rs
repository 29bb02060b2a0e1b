neststep::neststep! {
    fn main() {
        sh x: i64;
        step { x = "text"; }
        let y: u8 = x;
        sh a: [f64; 8]<%>;
        blocks(a);
        step { a[0].clear(); }
    }

    fn blocks(sh a: [f64]</>) { step forall (i, a) { a[i] = 0.5; } }
}
