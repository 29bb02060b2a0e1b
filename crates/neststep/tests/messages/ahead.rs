neststep::neststep! {
    fn lent(sh a: [usize]</>) -> usize {
        let (mut places, mut sum) = (vec![1usize, 2], 0);
        step { for place in places.iter_mut() { *place += 1; } sum += a[places[0]]; }
        sum
    }

    fn in_a_closure(sh a: [usize]</>) -> usize {
        let (mut at, mut sum) = (0, 0);
        step { (0..4).for_each(|k| at += k); sum += a[at]; }
        sum
    }

    fn endless(sh a: [usize]</>) -> usize {
        let mut sum = 0;
        step for k in 0.. { sum += a[k]; if sum > 9 { break; } }
        sum
    }

    fn guard(sh a: [usize]</>) -> usize {
        let mut sum = 0;
        step match a[1] { x if a[x] > 6 => sum += 1, _ => {} }
        sum
    }

    fn at_an_unknown_place(sh a: [usize]</>) -> usize {
        let (mut places, mut sum) = (vec![1usize, 2], 0);
        step { places[a[1]] = 2; sum += a[places[0]]; }
        sum
    }
}

fn main() {}
