//! The laws of pairs of columns, wherever they are in the tree.

use crate::network::Network;
use crate::plan::Plan;
use crate::schema::{projection, union};
use table::{Stop, Watch};

/// The pairs of columns that somebody asks for, each with a place for its cells in one long list.
pub struct Pairs {
    /// Ascending columns of each pair.
    pub columns: Vec<[usize; 2]>,
    /// Where each pair's cells begin, and the end of the last.
    pub starts: Vec<usize>,
    /// The number of each pair plus one, by its two columns; 0 if it is not asked for.
    numbers: Vec<u32>,
    /// Whether a column is in any pair.
    asked: Vec<bool>,
    width: usize,
}

impl Pairs {
    /// The given pairs of columns.
    pub fn new(sizes: &[u32], columns: Vec<[usize; 2]>) -> Self {
        let width = sizes.len();
        let (mut starts, mut numbers) = (vec![0], vec![0; width * width]);
        let mut asked = vec![false; width];
        for (number, &[a, b]) in columns.iter().enumerate() {
            starts.push(starts[number] + sizes[a] as usize * sizes[b] as usize);
            numbers[a * width + b] = number as u32 + 1;
            asked[a] = true;
            asked[b] = true;
        }
        Pairs { columns, starts, numbers, asked, width }
    }

    /// Cells of all pairs.
    pub fn cells(&self) -> usize {
        self.starts[self.columns.len()]
    }

    /// The number of a pair, in any order of its columns.
    pub fn number(&self, a: usize, b: usize) -> Option<usize> {
        (self.numbers[a.min(b) * self.width + a.max(b)] as usize).checked_sub(1)
    }

    /// The places of a pair's cells.
    pub fn range(&self, pair: usize) -> std::ops::Range<usize> {
        self.starts[pair]..self.starts[pair + 1]
    }
}

/// What a clique knows of columns below it: for each cell of its separator the law of each of their
/// values, given that cell.
struct Below {
    separator: Vec<usize>,
    /// Columns and where their values begin.
    columns: Vec<(usize, usize)>,
    values: usize,
    laws: Vec<f64>,
}

/// Writes the law of every pair into `laws`.
///
/// Walks from the leaves to the root. At each clique two columns meet that are in it, or below it, by
/// different ways; columns below are known by their law given the separator. Costs the cells of the
/// separators times the values of the columns below them.
pub fn predict(
    network: &Network,
    pairs: &Pairs,
    laws: &mut [f64],
    watch: &Watch,
) -> Result<(), Stop> {
    let sizes = &network.sizes;
    let mut write = |a: usize, b: usize, law: &mut dyn FnMut(usize, usize) -> f64| {
        let Some(pair) = pairs.number(a, b) else {
            return;
        };
        let cells = &mut laws[pairs.range(pair)];
        let inner = sizes[a.max(b)] as usize;
        for (cell, p) in cells.iter_mut().enumerate() {
            let (x, y) = (cell / inner, cell % inner);
            *p = if a < b { law(x, y) } else { law(y, x) };
        }
    };
    let cliques = &network.junction.cliques;
    let mut waiting: Vec<Vec<Below>> = cliques.iter().map(|_| vec![]).collect();
    for clique in (0..cliques.len()).rev() {
        watch.check()?;
        let columns = &cliques[clique];
        let above = &network.junction.separators[clique];
        let belief = &network.beliefs[clique];
        let below = std::mem::take(&mut waiting[clique]);
        let asked: Vec<usize> = columns.iter().copied().filter(|&c| pairs.asked[c]).collect();
        // All marginals of the clique that are needed, summed together.
        let mut wanted: Vec<Vec<usize>> = vec![];
        let mut want = |set: Vec<usize>| {
            wanted.iter().position(|w| *w == set).unwrap_or_else(|| {
                wanted.push(set);
                wanted.len() - 1
            })
        };
        let mut inside = vec![];
        for (i, &a) in asked.iter().enumerate() {
            for &b in &asked[i + 1..] {
                // A pair of the separator is the parent's.
                if clique == 0 || !(above.contains(&a) && above.contains(&b)) {
                    inside.push((a, b, want(vec![a, b])));
                }
            }
        }
        let mut ways = vec![];
        for (from, below_one) in below.iter().enumerate() {
            for &b in asked.iter().filter(|b| !below_one.separator.contains(b)) {
                ways.push((from, vec![b], want(union(&below_one.separator, &[b])), Some(b), None));
            }
            for (to, other) in below.iter().enumerate().skip(from + 1) {
                let both = want(union(&below_one.separator, &other.separator));
                ways.push((from, other.separator.clone(), both, None, Some(to)));
            }
            if clique > 0 {
                let both = want(union(&below_one.separator, above));
                ways.push((from, above.clone(), both, None, None));
            }
        }
        let own: Vec<(usize, usize)> = if clique == 0 {
            vec![]
        } else {
            let own = asked.iter().filter(|c| !above.contains(c));
            own.map(|&b| (b, want(union(above, &[b])))).collect()
        };
        let mut plan = Plan::new(sizes, columns, &wanted);
        plan.gather(belief);
        for &(a, b, set) in &inside {
            let (law, inner) = (plan.marginal(belief, set), sizes[b] as usize);
            write(a, b, &mut |x, y| law[x * inner + y]);
        }
        // What the parent will know: columns of this clique, and columns below it.
        let cells = network.separators[clique].len();
        let mut up = Below { separator: above.clone(), columns: vec![], values: 0, laws: vec![] };
        for &(b, _) in &own {
            up.columns.push((b, up.values));
            up.values += sizes[b] as usize;
        }
        let mut offsets = vec![];
        for one in &below {
            offsets.push(up.values);
            up.columns.extend(one.columns.iter().map(|&(c, at)| (c, up.values + at)));
            up.values += one.values;
        }
        if clique > 0 {
            up.laws = vec![0.0; cells * up.values];
        }
        for (number, &(b, set)) in own.iter().enumerate() {
            let both = union(above, &[b]);
            let (to_cell, to_value) =
                (projection(sizes, &both, above), projection(sizes, &both, &[b]));
            let start = up.columns[number].1;
            for ((&p, &cell), &value) in
                plan.marginal(belief, set).iter().zip(&to_cell).zip(&to_value)
            {
                up.laws[cell as usize * up.values + start + value as usize] += p;
            }
        }
        for (from, to, set, column, other) in ways {
            watch.check()?;
            let source = &below[from];
            let both = union(&source.separator, &to);
            let (from_cell, to_cell) =
                (projection(sizes, &both, &source.separator), projection(sizes, &both, &to));
            let joint = plan.marginal(belief, set);
            let cells = joint.iter().zip(&from_cell).zip(&to_cell);
            if column.is_none() && other.is_none() {
                let (width, at) = (up.values, offsets[from]);
                for ((&p, &s), &t) in cells {
                    let law = &source.laws[s as usize * source.values..][..source.values];
                    let sums = &mut up.laws[t as usize * width + at..][..source.values];
                    sums.iter_mut().zip(law).for_each(|(sum, law)| *sum += p * law);
                }
                continue;
            }
            let count: usize = to.iter().map(|&c| sizes[c] as usize).product();
            let mut sums = vec![0.0; count * source.values];
            for ((&p, &s), &t) in cells {
                let law = &source.laws[s as usize * source.values..][..source.values];
                let sums = &mut sums[t as usize * source.values..][..source.values];
                sums.iter_mut().zip(law).for_each(|(sum, law)| *sum += p * law);
            }
            if let Some(b) = column {
                for &(a, at) in &source.columns {
                    write(a, b, &mut |x, y| sums[y * source.values + at + x]);
                }
            } else if let Some(other) = other {
                let other = &below[other];
                for &(a, at) in &source.columns {
                    watch.check()?;
                    for &(b, bt) in &other.columns {
                        let (wide, high) = (sizes[b] as usize, sizes[a] as usize);
                        if pairs.number(a, b).is_none() {
                            continue;
                        }
                        let mut law = vec![0.0; high * wide];
                        for t in 0..count {
                            let right = &other.laws[t * other.values + bt..][..wide];
                            let left = &sums[t * source.values + at..][..high];
                            for (law, &left) in law.chunks_exact_mut(wide).zip(left) {
                                law.iter_mut().zip(right).for_each(|(p, right)| *p += left * right);
                            }
                        }
                        write(a, b, &mut |x, y| law[x * wide + y]);
                    }
                }
            }
        }
        if clique > 0 {
            for (laws, &p) in
                up.laws.chunks_exact_mut(up.values.max(1)).zip(&network.separators[clique])
            {
                let scale = if p > 0.0 { 1.0 / p } else { 0.0 };
                laws.iter_mut().for_each(|law| *law *= scale);
            }
            waiting[network.junction.parents[clique]].push(up);
        }
    }
    Ok(())
}
