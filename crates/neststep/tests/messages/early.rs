#![deny(deprecated)]

neststep::neststep! {
    fn past_a_step(sh a: [usize]</>) -> usize {
        let mine = $ + 1;
        if mine > 2 { return 5; }
        let mut sum = 0;
        step sum += a[1];
        sum
    }

    fn out_of_a_loop() {
        for round in 0..4 {
            if $ == round { break; }
            step { }
        }
    }

    /// Nothing follows, or all leave together, or there is a way out.
    fn as_it_should_be(sh a: [usize]</>) -> usize {
        let mut sum = 0;
        for round in 0..# {
            step sum += a[round];
            if sum > 3 { break; }
        }
        step<2> {
            if $ == 0 { return 1; }
            step { }
        }
        if $ == 1 { return sum; }
        2
    }
}

fn main() {}
