//! What a step reads is found out before it, whatever leads to it: the inspector does what the step will do.

use neststep::neststep;
use superstep::{Array, Block, Group, testing::everywhere};

neststep! {
    /// A variable is changed, and another of its name is bound behind.
    fn hidden(sh a: [usize]</>) -> (usize, usize) {
        let (mut at, mut sum) = (0, 0);
        step { at += 1; sum += a[at]; for at in 3..5 { sum += a[at]; } }
        (sum, at)
    }

    /// What is changed inside of an expression is changed once.
    fn inside_of_expressions(sh a: [usize]</>, yes: bool) -> Vec<usize> {
        let mut left = vec![6usize, 5, 4, 3, 2, 1];
        let (mut at, mut seen) = (0, Vec::new());
        step {
            let block = { at += 1; at };
            seen.push(a[block] + a[at + 4]);
            let branch = if yes { at += 1; 2 } else { 3 };
            seen.push(a[branch] + a[at + 5]);
            match at { 2 => at += 3, _ => at = 0 }
            seen.push(a[at]);
        }
        step { let gone = left.pop().unwrap(); seen.push(gone + a[left.len()]); }
        step { seen.push(left.pop().unwrap()); seen.push(a[left.len()]); }
        step { if left.pop().is_some() { seen.push(0); } seen.push(a[left.len()]); }
        step { if $ == 0 { a[left.pop().unwrap()] = 44; } else { left.pop(); } seen.push(a[left.len() + 5]); }
        step { while left.pop().is_some_and(|last| last != 6) { seen.push(1); } seen.push(a[left.len()]); }
        seen
    }

    /// Ways out end the inspector as they end the step.
    fn ways_out(sh a: [usize]</>, texts: &[&str]) -> Option<usize> {
        let mut sum = 0;
        step for text in texts {
            let at: usize = text.parse().ok()?;
            let Some(next) = at.checked_sub(1) else { continue };
            sum += a[at] + a[next] + a[text.len().checked_sub(1)?];
        }
        Some(sum)
    }

    fn chains(sh a: [usize]</>, maybe: Option<usize>) -> usize {
        let mut sum = 0;
        step {
            let Some(at) = maybe else { return 99; };
            sum += a[at];
            if let Some(at) = maybe && at > 2 { sum += a[at - 1]; }
            if let Some(at) = maybe && a[at] > 2 { sum += a[at + 1]; }
            while let Some(at) = maybe { sum += a[at]; break; }
        }
        sum
    }

    /// Only what the step reads ends these loops.
    fn ended_by_elements(sh a: [usize]</>, go: bool) -> Vec<usize> {
        let mut seen = Vec::new();
        step { while go { seen.push(a[2]); if a[3] > 3 { break; } } }
        step { loop { seen.push(a[4]); if seen.len() > 3 && a[1] == 2 { break; } } }
        step { 'all: loop { for at in 5..7 { seen.push(a[at]); if a[at] == 3 { break 'all; } } } }
        step { for _ in 0.. { seen.push(a[8]); if a[8] == 7 { return seen.clone(); } } }
        seen
    }

    /// These end by what is known.
    fn ended_by_counts(sh a: [usize]</>) -> Vec<usize> {
        let (mut seen, mut at) = (Vec::new(), 0);
        step { loop { seen.push(a[at]); at += 2; if at > 6 { break; } } }
        step { 'all: for round in 0.. { for at in 0..3 { if round == 1 { break 'all; } seen.push(a[at]); } } }
        step { let chosen = 'found: { if at == 8 { break 'found a[8]; } a[1] }; seen.push(chosen); }
        seen
    }

    /// Those of the array that the loop is over are here.
    fn of_themselves(sh next: [usize]</>) -> Vec<usize> {
        let mut seen = Vec::new();
        step forall (i, next) { seen.push(next[next[i]]); }
        seen
    }

    fn guards(sh a: [usize]</>) -> usize {
        let mut sum = 0;
        step for at in 0..5 {
            match a[at] {
                0 => sum += a[at + 1],
                x if a[8 - at] > x => sum += 10,
                _ if matches!(a[at], 6 | 8) => sum += 100,
                _ => {}
            }
        }
        sum
    }
}

fn doubled(g: &mut Group) -> Array<usize, Block> {
    let a = g.array::<usize, Block>(9);
    a.forall_mut(|i, x| *x = 2 * i % 9);
    a
}

#[test]
fn a_variable_may_be_hidden_behind_its_use() {
    everywhere(|g| {
        let a = doubled(g);
        assert_eq!(hidden(g, &a), (16, 1));
    });
}

#[test]
fn effects_inside_of_expressions_happen_once() {
    everywhere(|g| {
        let a = doubled(g);
        let seen = inside_of_expressions(g, &a, true);
        assert_eq!(seen, [2 + 1, 4 + 5, 1, 1 + 1, 2, 8, 0, 6, 5, 1, 0]);
    });
}

#[test]
fn ways_out_are_known_ahead() {
    everywhere(|g| {
        let a = doubled(g);
        assert_eq!(ways_out(g, &a, &["1", "0", "8"]), Some(2 + 7 + 5));
        assert_eq!(ways_out(g, &a, &["1", "x", "100"]), None);
        assert_eq!(chains(g, &a, Some(3)), 6 + 4 + 8 + 6);
        assert_eq!(chains(g, &a, None), 99);
    });
}

#[test]
fn loops_that_end_by_what_they_read_end() {
    everywhere(|g| {
        let a = doubled(g);
        assert_eq!(ended_by_elements(g, &a, true), [4, 8, 8, 8, 1, 3, 7]);
        assert_eq!(ended_by_counts(g, &a), [0, 4, 8, 3, 0, 2, 4, 7]);
    });
}

#[test]
fn elements_lead_to_elements_of_their_own_array() {
    everywhere(|g| {
        let a = doubled(g);
        let seen = of_themselves(g, &a);
        let owned: Vec<usize> = a.indices().map(|[i]| 4 * i % 9).collect();
        assert_eq!(seen, owned);
    });
}

#[test]
fn guards_read_elements() {
    everywhere(|g| {
        let a = doubled(g);
        assert_eq!(guards(g, &a), 2 + 10 + 100 + 100 + 100 - 100);
    });
}
