//! The groups of rows that classes are chosen from.

use crate::k_anonymize::group::{Crowd, Lists, Scratch};
use crate::k_anonymize::prepare::mix;
use crate::recode::assign::Form;
use crate::recode::improve::partition::Partition;
use hashbrown::{HashMap, HashSet};
use table::{Keyed, Stop, Watch};

/// Rows times forms, at most: about a second of work, and as much memory as [`Groups::bytes`] says.
const MOST: usize = 1 << 24;

/// What a row of so many columns loses is a number of 31 bits.
const WIDEST: usize = 127;

/// Rows of a group that are asked what is lost in it. They agree, but for those with NULLs.
const ASKED: usize = 4;

/// All groups of at least k rows that the forms of some classes make.
pub(crate) struct Groups {
    /// The row of each copy: what belongs to a group are copies.
    pub rows: Vec<u32>,
    /// What a copy loses in each group.
    pub losses: Vec<i64>,
    /// The copies of each group.
    pub copies: Lists,
}

impl Groups {
    /// The groups of the forms that classes are shown in; `None` if they are too many to look at.
    pub fn new(partition: &Partition<'_>, watch: &Watch) -> Result<Option<Self>, Stop> {
        let people = partition.people;
        let classes = 0..partition.classes.len() as u32;
        let used = classes.filter(|&class| partition.classes[class as usize].size > 0);
        let form = |class: u32| partition.levels(class).iter().map(|&level| level.into()).collect();
        let forms: HashSet<Form, Keyed> = used.map(form).collect();
        let copies = usize::try_from(people.total()).unwrap_or(usize::MAX);
        if copies.saturating_mul(forms.len()) > MOST || people.width() > WIDEST {
            return Ok(None);
        }
        let _held = watch.hold(Self::bytes(copies, forms.len()))?;
        let mut forms: Vec<Form> = forms.into_iter().collect();
        forms.sort_unstable();
        let mut begins = vec![0];
        begins.extend(people.weights.iter().scan(0, |sum, &weight| {
            *sum += weight as u32;
            Some(*sum)
        }));
        let copies_of = |row: u32| begins[row as usize]..begins[row as usize + 1];
        let rows = 0..people.len() as u32;
        let rows = rows.flat_map(|row| copies_of(row).map(move |_| row)).collect();
        let mut groups = Groups { rows, losses: Vec::new(), copies: Lists::default() };
        let crowd = Crowd {
            seekers: &people.select((0..people.len() as u32).collect::<Vec<_>>().into_iter()),
            weights: &people.weights,
            others: &people.select([].into_iter()),
            gifts: &[],
            k: partition.rule.k,
            choice: 0,
        };
        let mut scratch = Scratch::default();
        // Forms may make the same groups.
        let mut known: HashMap<u64, usize, Keyed> = HashMap::default();
        for form in &forms {
            let meeting = crowd.meet(form, 0, &mut scratch, watch)?;
            for group in 0..meeting.keys.len() {
                let rows = meeting.members.list(group);
                let asked = rows.iter().take(ASKED).map(|&row| people.loss(row, form));
                let loss = asked.max().unwrap_or(0) as i64;
                let key = rows.iter().fold(0, |key, &row| mix(key ^ u64::from(row)));
                let number = *known.entry(key).or_insert(groups.losses.len());
                if number < groups.losses.len() {
                    groups.losses[number] = groups.losses[number].min(loss);
                    continue;
                }
                groups.losses.push(loss);
                groups.copies.items.extend(rows.iter().flat_map(|&row| copies_of(row)));
                groups.copies.ends.push(groups.copies.items.len() as u32);
            }
        }
        Ok(Some(groups))
    }

    /// The bytes that so many copies in so many forms take, while vectors grow.
    fn bytes(copies: usize, forms: usize) -> u64 {
        (copies as u64) * (forms as u64) * 10
    }

    pub fn len(&self) -> usize {
        self.losses.len()
    }
}
