neststep::neststep! {
    fn main() {
        let mut k = "text";
        sh<+> x: i64;
        step { x = 1; } combine (x<+ : k>)
        println!("{k}");
    }
}
