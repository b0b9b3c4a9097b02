//! Opens candidate groups as additional classes, without giving up a class.

use super::flow::Chains;
use super::replace::gain;
use super::row_values::RowValues;
use hashbrown::HashMap;
use table::{Keyed, Stop, Watch};

/// Opens groups whose rows are worth more than they would lose there, the most promising ones first; then spare rows
/// move to the classes that lose least.
pub(crate) fn open(chains: &mut Chains<'_>, watch: &Watch) -> Result<(), Stop> {
    let classes = &chains.classes;
    chains.looks += classes.groups.copies.items.len() as u64;
    let mut worth = RowValues::new(classes.groups.len());
    worth.refresh(classes);
    let worths: Vec<i32> =
        classes.class.iter().map(|&class| worth.from[class as usize][0].0 as i32).collect();
    // A group that loses at least as much as its best row is worth cannot save anything; this excludes the largest
    // groups.
    let most = worths.iter().copied().max().unwrap_or(0).into();
    let mut found = Vec::new();
    let mut buffer = Vec::new();
    for group in 0..classes.groups.len() as u32 {
        watch.poll_every(1 << 10, group as usize)?;
        if classes.loss(group) < most
            && !classes.is_open(group)
            && gain(classes, group, &worths, 0, &mut buffer).is_some()
            && let Some(gain) = sure_gain(chains, &worth, group)
        {
            found.push((gain, group));
        }
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    for (_, group) in found {
        watch.check()?;
        let before = chains.classes.total;
        if fill(chains, group) && chains.classes.total < before {
            chains.classes.keep();
        } else {
            chains.classes.undo();
        }
    }
    chains.shed_all()
}

/// What is saved by opening a group if each class gives no more rows than it can spare; `None` if nothing.
///
/// One in thirty promising groups passes this test, and a third of these turn out to be improvements.
fn sure_gain(chains: &Chains<'_>, worth: &RowValues, group: u32) -> Option<i64> {
    let classes = &chains.classes;
    let loss = classes.loss(group);
    let copies = classes.groups.copies.list(group as usize).iter();
    let mut offers: Vec<(i64, u32)> = copies
        .map(|&copy| classes.class[copy as usize])
        .map(|c| (worth.from[c as usize][0].0, c))
        .collect();
    let (mut gain, mut count) = (0, 0);
    let mut given: HashMap<u32, usize, Keyed> = HashMap::default();
    for choice in 0..2 {
        offers.sort_unstable_by(|a, b| b.cmp(a));
        let mut rest = Vec::new();
        for &(offer, class) in &offers {
            if offer < 0 || count >= classes.k && offer <= loss {
                break;
            }
            let [first, second] = worth.from[class as usize];
            let from = if choice == 0 { first.1 } else { second.1 };
            let given = given.entry(from).or_default();
            if *given < classes.size(from) - classes.k {
                *given += 1;
                gain += offer - loss;
                count += 1;
            } else {
                rest.push((second.0, class));
            }
        }
        offers = rest;
    }
    (count >= classes.k && gain > 0).then_some(gain)
}

/// Opens a group and fetches copies for it: k, and those that lose less there; false if there are too few.
fn fill(chains: &mut Chains<'_>, group: u32) -> bool {
    chains.classes.toggle(group);
    while chains.classes.size(group) < chains.classes.k {
        if !chains.pull(group, -1) {
            return false;
        }
    }
    let loss = chains.classes.loss(group);
    while chains.pull(group, loss) {}
    true
}
