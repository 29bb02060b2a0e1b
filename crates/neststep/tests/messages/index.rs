neststep::neststep! {
    fn chase(sh next: [usize]</>, start: usize) -> usize {
        let mut at = start;
        step for _ in 0..5 { at = next[at]; }
        at
    }

    fn closure(sh a: [u64]<%>) -> u64 {
        let mut sum = 0;
        step sum = (0..4).map(|i| a[i]).sum();
        sum
    }
}

fn main() {}
