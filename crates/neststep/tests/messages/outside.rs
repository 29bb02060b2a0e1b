neststep::neststep! {
    fn main() {
        sh x: i64;
        x = 1;
        sh r: [u8; 4];
        r[0] = 2;
    }
}
