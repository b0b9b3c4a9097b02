//! Chains on small random tables, compared with trying everything.

use super::classes::Classes;
use super::flow::Chains;
use super::new_classes;
use super::replace::Replacing;
use super::row_values::RowValues;
use crate::k_anonymize::improve::candidates::CandidateGroups;
use crate::k_anonymize::prepare::mix;
use table::{NONE, Watch};

/// Pseudo-random numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = mix(self.0);
        (self.0 >> 32) as usize % end
    }
}

/// Random groups of `copies` copies, the last one with all copies, and classes that have at least k.
fn world(copies: u32, count: usize, k: usize, chance: &mut Chance) -> (CandidateGroups, Vec<u32>) {
    let mut groups: Vec<(i64, Vec<u32>)> = Vec::new();
    for _ in 1..count {
        let own: Vec<u32> = (0..copies).filter(|_| chance.below(2) == 0).collect();
        if own.len() >= k && groups.iter().all(|group| group.1 != own) {
            groups.push((1 + chance.below(40) as i64, own));
        }
    }
    groups.push((50, (0..copies).collect()));
    let all = groups.len() as u32 - 1;
    let mut class = vec![all; copies as usize];
    for (number, (_, own)) in groups.iter().enumerate() {
        let free: Vec<u32> =
            own.iter().copied().filter(|&copy| class[copy as usize] == all).collect();
        let left = class.iter().filter(|&&class| class == all).count();
        if free.len() >= k && (left == free.len() || left - free.len() >= k) && chance.below(3) > 0
        {
            free.iter().for_each(|&copy| class[copy as usize] = number as u32);
        }
    }
    (CandidateGroups::given(copies, &groups), class)
}

fn classes<'g>(groups: &'g CandidateGroups, class: &[u32], k: usize) -> Classes<'g> {
    let mut classes = Classes::empty(groups, k);
    (0u32..).zip(class).for_each(|(copy, &group)| classes.put(copy, group));
    classes
}

/// Every class has k of its group's copies, every copy is in a class, and the records agree.
fn check(classes: &Classes<'_>) {
    let mut total = 0;
    for &class in &classes.open {
        assert!(classes.size(class) >= classes.k, "{} copies", classes.size(class));
        let own = classes.groups.copies.list(class as usize);
        for &copy in &classes.members[class as usize] {
            assert!(own.contains(&copy));
            assert_eq!(classes.class[copy as usize], class);
            total += classes.loss(class);
        }
    }
    let members: usize = classes.members.iter().map(Vec::len).sum();
    assert_eq!(members, classes.class.len());
    assert_eq!(classes.total, total);
    assert_eq!(classes.reach as usize, classes.fits.iter().map(Vec::len).sum::<usize>());
    for (copy, fits) in classes.fits.iter().enumerate() {
        let mut fits = fits.clone();
        fits.sort_unstable();
        let holds =
            |&class: &u32| classes.groups.copies.list(class as usize).contains(&(copy as u32));
        let mut all: Vec<u32> = classes.open.iter().copied().filter(holds).collect();
        all.sort_unstable();
        assert_eq!(fits, all);
    }
}

/// The least total loss of copies in the open classes, each with at least k of them.
fn least(classes: &Classes<'_>) -> i64 {
    fn settle(classes: &Classes<'_>, copy: usize, sizes: &mut [usize], lost: i64, best: &mut i64) {
        let lacking: usize =
            classes.open.iter().map(|&c| classes.k.saturating_sub(sizes[c as usize])).sum();
        if lost >= *best || lacking > classes.class.len() - copy {
            return;
        }
        if copy == classes.class.len() {
            *best = lost;
            return;
        }
        for &class in &classes.fits[copy] {
            sizes[class as usize] += 1;
            settle(classes, copy + 1, sizes, lost + classes.loss(class), best);
            sizes[class as usize] -= 1;
        }
    }
    let (mut best, mut sizes) = (i64::MAX, vec![0; classes.groups.len()]);
    settle(classes, 0, &mut sizes, 0, &mut best);
    best
}

/// Spare rows move to the classes that lose least: no assignment to the same classes loses less.
#[test]
fn shedding_finds_the_best_assignment() {
    let (mut chance, watch) = (Chance(1), Watch::unlimited());
    let mut better = 0;
    for round in 0..400 {
        let k = 2 + round % 2;
        let (groups, class) = world(10, 7, k, &mut chance);
        let mut chains = Chains::new(classes(&groups, &class, k), &watch);
        check(&chains.classes);
        let before = chains.classes.total;
        chains.shed_all().unwrap();
        check(&chains.classes);
        assert_eq!(chains.classes.total, least(&chains.classes), "round {round}");
        better += usize::from(chains.classes.total < before);
    }
    assert!(better > 100, "{better}");
}

/// The classes to which chains lead from each class, computed until nothing changes.
fn reached(classes: &Classes<'_>) -> Vec<Vec<bool>> {
    let count = classes.groups.len();
    let mut reached = vec![vec![false; count]; count];
    for &class in &classes.open {
        reached[class as usize][class as usize] = true;
        for &copy in &classes.members[class as usize] {
            classes.fits[copy as usize]
                .iter()
                .for_each(|&to| reached[class as usize][to as usize] = true);
        }
    }
    for _ in 0..count {
        for a in 0..count {
            for b in 0..count {
                if reached[a][b] {
                    (0..count).for_each(|c| reached[a][c] = reached[a][c] || reached[b][c]);
                }
            }
        }
    }
    reached
}

#[test]
fn worth_is_what_chains_allow() {
    let mut chance = Chance(2);
    for round in 0..400 {
        let (groups, class) = world(14, 9, 2, &mut chance);
        let classes = classes(&groups, &class, 2);
        let reached = reached(&classes);
        let mut worth = RowValues::new(groups.len());
        worth.refresh(&classes);
        // A second time: earlier values must be overwritten.
        worth.refresh(&classes);
        for &class in &classes.open {
            let leads = |&&to: &&u32| reached[class as usize][to as usize];
            let to = classes.open.iter().filter(leads).map(|&to| classes.loss(to)).min();
            assert_eq!(Some(worth.to[class as usize].0), to, "round {round}");
            let comes = |&&from: &&u32| {
                reached[from as usize][class as usize] && classes.size(from) > classes.k
            };
            let mut from: Vec<(i64, u32)> =
                classes.open.iter().filter(comes).map(|&from| (classes.loss(from), from)).collect();
            from.sort_unstable_by(|a, b| b.cmp(a));
            from.resize(2, (-1, NONE));
            assert_eq!(worth.from[class as usize].map(|found| found.0), [from[0].0, from[1].0]);
            assert_eq!(worth.without(class, from[0].1), from[1].0);
            let fed = worth.fed_by(from[0].1);
            assert!(fed.contains(&(from[0].1, class)), "round {round}");
        }
    }
}

#[test]
fn what_is_taken_back_was_never_there() {
    let (mut chance, watch) = (Chance(3), Watch::unlimited());
    for round in 0..300 {
        let (groups, class) = world(16, 9, 2, &mut chance);
        let mut chains = Chains::new(classes(&groups, &class, 2), &watch);
        let before = chains.classes.total;
        for _ in 0..6 {
            let group = chance.below(groups.len()) as u32;
            match chance.below(3) {
                0 if !chains.classes.is_open(group) => chains.classes.toggle(group),
                1 if chains.classes.is_open(group) => _ = chains.pull(group, -1),
                2 if chains.classes.size(group) > 0 => _ = chains.shed(group, i64::MAX),
                _ => {}
            }
        }
        chains.classes.undo();
        check(&chains.classes);
        assert_eq!(chains.classes.class, class, "round {round}");
        assert_eq!(chains.classes.total, before);
    }
}

/// All changes together keep the rule. The loss is compared with that of the best classes, with so few groups that all
/// choices can be tried. The groups do not have the order of a hierarchy, so exact optima cannot be expected.
#[test]
fn chains_come_near_the_best_classes() {
    let (mut chance, watch) = (Chance(4), Watch::unlimited());
    let (mut found, mut best) = (0, 0);
    for _ in 0..120 {
        let (groups, class) = world(9, 7, 2, &mut chance);
        let mut chains = Chains::new(classes(&groups, &class, 2), &watch);
        let mut replacing = Replacing::new(&groups, &watch).unwrap();
        chains.shed_all().unwrap();
        let mut total = chains.classes.total;
        for pass in 0..3 {
            new_classes::open(&mut chains, &watch).unwrap();
            assert!(chains.classes.total <= total);
            replacing.pass(&mut chains, (pass, 3), &watch).unwrap();
            check(&chains.classes);
            total = chains.classes.total;
        }
        found += total;
        let all = 0u32..1 << groups.len();
        best += all
            .map(|open| {
                let mut classes = Classes::empty(&groups, 2);
                let open = (0..groups.len() as u32).filter(|group| open >> group & 1 == 1);
                open.for_each(|group| classes.toggle(group));
                least(&classes)
            })
            .min()
            .unwrap_or(0);
    }
    println!("{:.3} times the least", found as f64 / best as f64);
    assert!(found >= best && found * 4 <= best * 5, "{found} {best}");
}

#[test]
fn chains_stop_when_cancelled() {
    let (mut chance, watch) = (Chance(5), Watch::unlimited());
    let (groups, class) = world(16, 9, 2, &mut chance);
    let mut chains = Chains::new(classes(&groups, &class, 2), &watch);
    let mut replacing = Replacing::new(&groups, &watch).unwrap();
    watch.cancel();
    let open = chains.classes.open.clone();
    assert!(open.iter().all(|&class| !chains.shed(class, i64::MAX) && !chains.pull(class, -1)));
    assert!(chains.shed_all().is_err());
    assert!(new_classes::open(&mut chains, &watch).is_err());
    assert!(replacing.pass(&mut chains, (0, 1), &watch).is_err());
    assert!(Replacing::new(&groups, &watch).is_err());
}
