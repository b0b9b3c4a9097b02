//! Recodes bags to other domains: private mechanisms read bags whose domains are public.

use crate::{Bag, Domain, NONE, Stop, Watch};
use std::sync::Arc;

/// The new code of each cell of each column. Made from a bag and from domains that are known without it, used by
/// [`Bag::recoded`] and by code that recodes while it reads.
#[derive(Debug, Clone)]
pub struct Recoding {
    /// By column and code: the code in the new domain, or [`NONE`].
    pub codes: Vec<Vec<u32>>,
    /// By column: the new code of NULL.
    pub nulls: Vec<u32>,
}

impl Recoding {
    /// The new code of a cell.
    #[inline]
    pub fn cell(&self, column: usize, code: u32) -> u32 {
        if code == NONE { self.nulls[column] } else { self.codes[column][code as usize] }
    }
}

impl Domain {
    /// A domain of the given values, in any order.
    pub fn from_values(name: String, mut values: Vec<Vec<u8>>) -> Self {
        values.sort_unstable();
        values.dedup();
        Domain::from_sorted(name, values.iter().map(Vec::as_slice).collect())
    }
}

impl Bag {
    /// The bag with these domains, to whose codes the recoding leads. Equal rows are merged.
    pub fn recoded(
        &self,
        recoding: &Recoding,
        domains: Vec<Arc<Domain>>,
        watch: &Watch,
    ) -> Result<Bag, Stop> {
        let columns: Vec<usize> = (0..domains.len()).collect();
        let mut bag =
            self.map(&columns, |column, code| recoding.cell(column, code), |_| (), watch)?;
        bag.domains = domains;
        Ok(bag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_recoded_and_equal_rows_merged() {
        let bag = Bag::from_text(1, ["b", "x", "y", "b"].map(|value| [Some(value)]));
        let domain =
            Domain::from_values("c".into(), vec![b"c".to_vec(), b"b".to_vec(), b"b".to_vec()]);
        assert_eq!((domain.len(), domain.find(b"c")), (2, Some(1)));
        let recoding = Recoding { codes: vec![vec![0, NONE, NONE]], nulls: vec![NONE] };
        let recoded = bag.recoded(&recoding, vec![Arc::new(domain)], &Watch::unlimited()).unwrap();
        assert_eq!(
            (recoded.distinct(), recoded.row(0), recoded.weights()),
            (2, &[0][..], &[2, 2][..])
        );
        assert_eq!(recoded.domain(0).value(0), b"b");
    }
}
