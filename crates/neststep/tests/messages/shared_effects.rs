use std::{cell::Cell, rc::Rc};

struct Counter(Rc<Cell<usize>>);

impl Counter {
    fn advance(&self) -> usize {
        self.0.replace(self.0.get() + 1)
    }
}

neststep::neststep! {
    fn hidden(sh a: [u64]</>, counter: Counter) -> u64 {
        let mut sum = 0;
        step sum += a[counter.advance()];
        sum
    }
}

fn main() {}
