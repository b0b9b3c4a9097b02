//! The candidate groups that are classes, and the copies in them.

use crate::k_anonymize::improve::candidates::CandidateGroups;
use crate::k_anonymize::improve::partition::Partition;
use table::NONE;

/// Classes while they change. A class has the number of its group. Changes are recorded until they are kept, so that
/// they can be undone.
pub(crate) struct Classes<'g> {
    pub k: usize,
    pub groups: &'g CandidateGroups,
    /// The groups that are classes, and the position of each group in this list.
    pub open: Vec<u32>,
    places_open: Vec<u32>,
    /// The copies of each class; the class of each copy and its position there.
    pub members: Vec<Vec<u32>>,
    pub class: Vec<u32>,
    places: Vec<u32>,
    /// The classes that each copy could be in, and the total number of these.
    pub fits: Vec<Vec<u32>>,
    pub reach: u64,
    /// The loss of all copies.
    pub total: i64,
    /// Copies that have moved, with their previous classes; groups that were opened or closed.
    pub moves: Vec<(u32, u32)>,
    switches: Vec<u32>,
}

impl<'g> Classes<'g> {
    /// The classes of a partition; `None` if a row has no class, or if a class is not among the groups.
    pub fn new(partition: &Partition<'_>, groups: &'g CandidateGroups) -> Option<Self> {
        let mut classes = Classes::empty(groups, partition.rule.k as usize);
        // The next copy of each row.
        let mut next: Vec<u32> = groups.begins[..groups.begins.len() - 1].to_vec();
        let all = (0u32..).zip(&partition.classes).filter(|(_, class)| class.size > 0);
        for (number, class) in all {
            let group = groups.of(partition.first(number)?, partition.levels(number))?;
            for &share in &class.members {
                let share = &partition.shares[share as usize];
                let begin = next[share.row as usize];
                next[share.row as usize] += share.weight as u32;
                (begin..next[share.row as usize]).for_each(|copy| classes.put(copy, group));
            }
        }
        (!classes.class.contains(&NONE)).then_some(classes)
    }

    /// A state without classes, into which copies are to be put.
    pub fn empty(groups: &'g CandidateGroups, k: usize) -> Self {
        let copies = groups.rows.len();
        Classes {
            k,
            groups,
            open: Vec::new(),
            places_open: vec![NONE; groups.len()],
            members: vec![Vec::new(); groups.len()],
            class: vec![NONE; copies],
            places: vec![0; copies],
            fits: vec![Vec::new(); copies],
            reach: 0,
            total: 0,
            moves: Vec::new(),
            switches: Vec::new(),
        }
    }

    /// Puts a copy that has no class yet into one of its groups.
    pub fn put(&mut self, copy: u32, group: u32) {
        if !self.is_open(group) {
            self.switch(group);
        }
        self.enter(copy, group);
    }

    pub fn is_open(&self, group: u32) -> bool {
        self.places_open[group as usize] != NONE
    }

    pub fn size(&self, class: u32) -> usize {
        self.members[class as usize].len()
    }

    /// What a copy loses in a group.
    pub fn loss(&self, group: u32) -> i64 {
        self.groups.losses[group as usize]
    }

    /// Opens a group that is closed, or closes a class that has no copies any more.
    pub fn toggle(&mut self, group: u32) {
        self.switches.push(group);
        self.switch(group);
    }

    pub fn shift(&mut self, copy: u32, to: u32) {
        self.moves.push((copy, self.class[copy as usize]));
        self.leave(copy);
        self.enter(copy, to);
    }

    /// Undoes all changes that were not kept.
    pub fn undo(&mut self) {
        while let Some((copy, from)) = self.moves.pop() {
            self.leave(copy);
            self.enter(copy, from);
        }
        while let Some(group) = self.switches.pop() {
            self.switch(group);
        }
    }

    pub fn keep(&mut self) {
        self.moves.clear();
        self.switches.clear();
    }

    /// The rows of all classes, each as often as it has copies there.
    pub fn rows(&self) -> Vec<Vec<u32>> {
        let rows = |copies: &Vec<u32>| {
            copies.iter().map(|&copy| self.groups.rows[copy as usize]).collect()
        };
        self.open.iter().map(|&class| rows(&self.members[class as usize])).collect()
    }

    fn switch(&mut self, group: u32) {
        let copies = self.groups.copies.list(group as usize);
        let place = std::mem::replace(&mut self.places_open[group as usize], NONE);
        if place == NONE {
            self.places_open[group as usize] = self.open.len() as u32;
            self.open.push(group);
            self.reach += copies.len() as u64;
            copies.iter().for_each(|&copy| self.fits[copy as usize].push(group));
            return;
        }
        self.reach -= copies.len() as u64;
        self.open.swap_remove(place as usize);
        if let Some(&last) = self.open.get(place as usize) {
            self.places_open[last as usize] = place;
        }
        for &copy in copies {
            let fits = &mut self.fits[copy as usize];
            if let Some(place) = fits.iter().position(|&other| other == group) {
                fits.swap_remove(place);
            }
        }
    }

    fn leave(&mut self, copy: u32) {
        let class = self.class[copy as usize];
        let members = &mut self.members[class as usize];
        let place = self.places[copy as usize];
        members.swap_remove(place as usize);
        if let Some(&last) = members.get(place as usize) {
            self.places[last as usize] = place;
        }
        self.total -= self.groups.losses[class as usize];
    }

    fn enter(&mut self, copy: u32, class: u32) {
        let members = &mut self.members[class as usize];
        self.places[copy as usize] = members.len() as u32;
        members.push(copy);
        self.class[copy as usize] = class;
        self.total += self.groups.losses[class as usize];
    }

    /// The bytes of classes and of the data about them.
    pub fn bytes(groups: &CandidateGroups) -> u64 {
        groups.rows.len() as u64 * 160 + groups.len() as u64 * 48
    }
}
