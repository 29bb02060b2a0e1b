neststep::neststep! {
    fn main() {
        sh<+> a: [i64; 8]</>;
        step for a in 0..3 { }
        let a = 5;
        sh volatile v: u32;
        let x = v;
        forall2 (i, j, a) { }
        step { a[1][2] = 3; }
        let y = &mut a[3];
    }
}
