//! The cells of a table of counts, and the sums between them.

use super::network::Network;

/// A cell: `None` stands for the total over rows, columns or groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The coarser row, if rows are grouped.
    pub group: Option<u32>,
    pub row: Option<u32>,
    pub column: Option<u32>,
}

/// The rows and columns of a table. Cells are numbered: inner cells row by row, totals of rows, cells of
/// groups, totals of groups, totals of columns, the total of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    rows: usize,
    columns: usize,
    /// The group of each row; `None` if rows are not grouped.
    group_of_row: Option<Vec<u32>>,
    groups: usize,
}

impl Layout {
    /// A table of two columns.
    pub fn flat(rows: usize, columns: usize) -> Self {
        Layout { rows, columns, group_of_row: None, groups: 0 }
    }

    /// A table whose rows belong to groups, numbered from 0, which have totals of their own.
    pub fn grouped(group_of_row: Vec<u32>, columns: usize) -> Self {
        let groups = group_of_row.iter().max().map_or(0, |&last| last as usize + 1);
        Layout { rows: group_of_row.len(), columns, group_of_row: Some(group_of_row), groups }
    }

    /// The number of cells, totals included.
    pub fn len(&self) -> usize {
        (self.rows + self.groups + 1) * (self.columns + 1)
    }

    /// True if there is no cell but the total.
    pub fn is_empty(&self) -> bool {
        self.rows == 0 || self.columns == 0
    }

    fn group(&self, row: usize) -> Option<u32> {
        self.group_of_row.as_ref().map(|groups| groups[row])
    }

    /// The number of the cell at a place, if the place exists.
    pub fn cell(&self, place: Place) -> Option<usize> {
        let (inner, groups) = (self.rows * self.columns, self.groups);
        let column = place.column.map(|column| column as usize);
        if column.is_some_and(|column| column >= self.columns) {
            return None;
        }
        let after_rows = inner + self.rows;
        let after_groups = after_rows + groups * self.columns + groups;
        match (place.group, place.row) {
            (group, Some(row)) => {
                let row = row as usize;
                if row >= self.rows || self.group(row) != group {
                    return None;
                }
                Some(column.map_or(inner + row, |column| row * self.columns + column))
            }
            (Some(group), None) => {
                let group = group as usize;
                let total = after_rows + groups * self.columns + group;
                let cell =
                    column.map_or(total, |column| after_rows + group * self.columns + column);
                (group < groups).then_some(cell)
            }
            (None, None) => Some(after_groups + column.unwrap_or(self.columns)),
        }
    }

    /// The places of all cells, in the order of their numbers.
    pub fn places(&self) -> Vec<Place> {
        let column = |c: usize| Some(c as u32);
        let mut places = Vec::with_capacity(self.len());
        let row = |r: usize, column| Place { group: self.group(r), row: Some(r as u32), column };
        let group = |g: usize, column| Place { group: Some(g as u32), row: None, column };
        for r in 0..self.rows {
            places.extend((0..self.columns).map(|c| row(r, column(c))));
        }
        places.extend((0..self.rows).map(|r| row(r, None)));
        for g in 0..self.groups {
            places.extend((0..self.columns).map(|c| group(g, column(c))));
        }
        places.extend((0..self.groups).map(|g| group(g, None)));
        let all = |column| Place { group: None, row: None, column };
        places.extend((0..self.columns).map(|c| all(column(c))));
        places.push(all(None));
        places
    }

    /// The counts of all cells from those of the inner ones.
    pub fn counts(&self, inner: &[u64]) -> Vec<u64> {
        let mut counts = vec![0; self.len()];
        for (place, &count) in self.places().iter().zip(inner) {
            // The row, its group if there are groups, and the total of all.
            let mut lines = vec![(place.group, place.row), (place.group, None), (None, None)];
            lines.dedup();
            for (group, row) in lines {
                let sums = [place.column, None].map(|column| Place { group, row, column });
                sums.iter()
                    .filter_map(|&sum| self.cell(sum))
                    .for_each(|cell| counts[cell] += count);
            }
        }
        counts
    }

    /// The cells as arcs. The grand total flows into the groups, from each into its rows, from each row by its inner
    /// cells into the columns of its group, from there into the columns, and back.
    pub(super) fn network(&self) -> Network {
        let (rows, columns, groups) = (self.rows, self.columns, self.groups);
        // Nodes: rows, columns of groups, columns, groups, source, sink.
        let of_group = rows;
        let of_column = of_group + groups * columns;
        let group_node = of_column + columns;
        let source = group_node + groups;
        let sink = source + 1;
        let arc = |place: Place| match (place.group, place.row, place.column) {
            (Some(g), Some(r), Some(c)) => {
                (r as usize, of_group + g as usize * columns + c as usize)
            }
            (Some(g), Some(r), None) => (group_node + g as usize, r as usize),
            (Some(g), None, Some(c)) => {
                (of_group + g as usize * columns + c as usize, of_column + c as usize)
            }
            (Some(g), None, None) => (source, group_node + g as usize),
            (None, Some(r), Some(c)) => (r as usize, of_column + c as usize),
            (None, Some(r), None) => (source, r as usize),
            (None, None, Some(c)) => (of_column + c as usize, sink),
            (None, None, None) => (sink, source),
        };
        let arcs = self.places().into_iter().map(arc);
        let arcs = arcs.map(|(tail, head)| (tail as u32, head as u32)).collect();
        Network { nodes: sink + 1, arcs }
    }
}
