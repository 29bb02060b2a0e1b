use std::{cell::Cell, sync::mpsc::Receiver};

neststep::neststep! {
    fn cell(sh a: [u64]</>, at: &Cell<usize>) -> u64 {
        let mut sum = 0;
        step for _ in 0..3 { at.set(at.get() + 1); sum += a[at.get()]; }
        sum
    }

    fn channel(sh a: [u64]</>, channel: Receiver<usize>) -> u64 {
        let mut sum = 0;
        step sum += a[channel.recv().unwrap()];
        sum
    }

    fn borrowed(sh a: [u64]</>, left: &mut Vec<usize>) -> u64 {
        let mut sum = 0;
        step sum += a[left.pop().unwrap()];
        sum
    }

    fn called(sh a: [u64]</>) -> u64 {
        let (mut sum, mut at) = (0, 0);
        let mut next = || { at += 1; at };
        step sum += a[next()];
        sum
    }

    fn outer(sh a: [usize]</>) {
        step<2> {
            step a[$] = @;
        }
    }

    fn function(sh<gcd> a: [u64]</>) {
        step a[3] = 4;
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn main() {}
