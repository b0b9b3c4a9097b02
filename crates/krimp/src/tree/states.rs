//! What columns filled so far mean for those to come, prepared as it comes up.
//!
//! Which value a column gets depends on the nodes whose paths the row contains so far, of those that
//! have children in columns to come. Many rows share such a set of nodes: it is a state, with the law
//! of its column and, by value, the state that follows. A state is made when a row first gets there.

use crate::generate::alias::Alias;
use crate::tree::law::{Children, Law, Values};
use table::{Index, NONE};

/// Bytes of states that a thread keeps before it begins anew.
const CACHE_BYTES: usize = 64 << 20;

/// A state that is not made yet.
const UNKNOWN: u32 = u32::MAX;

/// What is drawn for a column, and where it leads.
pub(crate) struct State {
    column: u32,
    /// Nodes other than the root, in the order in which they decide.
    nodes: Box<[u32]>,
    /// The values with a probability of their own.
    codes: Box<[u32]>,
    /// Draws a position in `codes`, [`NULL`] or [`OTHERS`].
    alias: Alias,
    /// The state after each value, and after all others.
    next: Box<[u32]>,
}

/// NULL, where it is no value, and the values without a probability of their own.
const NULL: u32 = u32::MAX - 1;
const OTHERS: u32 = u32::MAX - 2;

/// The states that a thread has made. What is drawn does not depend on which there are.
#[derive(Default)]
pub(crate) struct States {
    states: Vec<State>,
    index: Index,
    bytes: usize,
    first: Option<u32>,
}

/// A tree prepared for making states.
pub(crate) struct Prepared {
    pub children: Children,
    pub values: Vec<Values>,
    /// By node: its place in the order in which nodes decide.
    pub ranks: Vec<u32>,
}

impl Prepared {
    /// The law of a column, given nodes in the order in which they decide.
    pub(crate) fn law(&self, column: u32, nodes: &[u32]) -> Law {
        let deciding = nodes.iter().copied();
        let deciding: Vec<u32> =
            deciding.filter(|&node| !self.children.in_column(node, column).is_empty()).collect();
        self.values[column as usize].law(&self.children, column, &deciding)
    }

    /// The nodes after a column has got a value, in the order in which they decide.
    pub(crate) fn after(&self, column: u32, nodes: &[u32], code: u32) -> Vec<u32> {
        let of_value = |&node: &u32| self.children.find(node, column, code);
        let added = std::iter::once(&0).chain(nodes).filter_map(of_value);
        let mut nodes: Vec<u32> = nodes.iter().copied().chain(added).collect();
        nodes.retain(|&node| self.children.reaches(node, column + 1));
        nodes.sort_unstable_by_key(|&node| self.ranks[node as usize]);
        nodes
    }
}

impl States {
    /// The state of the first column.
    pub(crate) fn first(&mut self, prepared: &Prepared) -> u32 {
        match self.first {
            Some(first) => first,
            None => {
                let first = self.state(prepared, 0, Vec::new());
                self.first = Some(first);
                first
            }
        }
    }

    /// The value that random words select in a state ([`NONE`] for NULL), and the state after it.
    #[inline]
    pub(crate) fn draw(
        &mut self,
        prepared: &Prepared,
        at: u32,
        mut word: impl FnMut() -> u64,
    ) -> (u32, u32) {
        let state = &self.states[at as usize];
        let values = &prepared.values[state.column as usize];
        let picked = state.alias.pick(word());
        let (place, code) = match picked {
            NULL => (state.codes.len(), NONE),
            OTHERS => {
                let number = (word() >> 11) as f64 / (1u64 << 53) as f64;
                (state.codes.len(), values.other(&state.codes, number))
            }
            place => (place as usize, state.codes[place as usize]),
        };
        let next = match state.next[place] {
            UNKNOWN => self.follow(prepared, at, place, code),
            next => next,
        };
        (if Some(code) == values.null() { NONE } else { code }, next)
    }

    /// Makes the state after a value. No row asks for one after the last column: any will do there.
    #[cold]
    fn follow(&mut self, prepared: &Prepared, at: u32, place: usize, code: u32) -> u32 {
        let State { column, nodes, .. } = &self.states[at as usize];
        let next_column = column + 1;
        let next = if next_column as usize == prepared.values.len() {
            at
        } else {
            let nodes = prepared.after(*column, nodes, code);
            if self.bytes > CACHE_BYTES {
                *self = States::default();
                return self.state(prepared, next_column, nodes);
            }
            self.state(prepared, next_column, nodes)
        };
        self.states[at as usize].next[place] = next;
        next
    }

    /// The state of a column and of nodes in the order in which they decide.
    fn state(&mut self, prepared: &Prepared, column: u32, nodes: Vec<u32>) -> u32 {
        let States { states, index, bytes, .. } = self;
        let key_of = |state: u32| {
            let State { column, nodes, .. } = &states[state as usize];
            (*column, &**nodes)
        };
        match index.number((column, nodes.as_slice()), key_of) {
            Ok(state) => state,
            Err(new) => {
                let state = State::new(prepared, column, nodes);
                *bytes += state.memory();
                states.push(state);
                new
            }
        }
    }
}

impl State {
    fn new(prepared: &Prepared, column: u32, nodes: Vec<u32>) -> Self {
        let law = prepared.law(column, &nodes);
        let mut weighted: Vec<(u32, f64)> = (0..).zip(law.named.iter().copied()).collect();
        weighted.extend([(NULL, law.missing), (OTHERS, law.others)]);
        weighted.retain(|&(_, weight)| weight > 0.0);
        if weighted.is_empty() {
            // A column that no row has a value of.
            weighted.push((NULL, 1.0));
        }
        State {
            column,
            nodes: nodes.into(),
            alias: Alias::new(&weighted),
            next: vec![UNKNOWN; law.codes.len() + 1].into(),
            codes: law.codes.into(),
        }
    }

    fn memory(&self) -> usize {
        let numbers = self.nodes.len() + self.codes.len() + self.next.len();
        size_of::<Self>() + numbers * 4 + Alias::bytes(self.codes.len() + 2)
    }
}
