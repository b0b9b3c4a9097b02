//! Linear programs in exact arithmetic: the bounded simplex method, from a known feasible point.
//!
//! Unknowns are at least 0 and at most their limits. The rows express basic unknowns by the others. The method starts
//! at the true values, so no first phase has to look for a start. Among several possible steps, the first unknown is
//! always taken (Bland's rule), which prevents cycles.

use crate::Rational;
use std::cmp::Ordering;
use table::{Stop, Watch};

/// A feasible point, and the equations solved for some of the unknowns.
#[derive(Debug, Clone)]
pub(super) struct Vertex {
    /// Each row: its basic unknown plus these multiples of the others is constant.
    rows: Vec<Vec<Rational>>,
    /// The basic unknown of each row.
    basic: Vec<usize>,
    /// The row of each basic unknown.
    row_of: Vec<Option<usize>>,
    values: Vec<Rational>,
    limits: Vec<Option<Rational>>,
}

impl Vertex {
    /// Solves the equations (Gauss and Jordan) that `values` satisfy.
    pub fn reduced(
        mut matrix: Vec<Vec<Rational>>,
        values: Vec<Rational>,
        limits: Vec<Option<Rational>>,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let unknowns = values.len();
        let (mut rows, mut basic): (Vec<Vec<Rational>>, Vec<usize>) = (Vec::new(), Vec::new());
        while let Some(mut row) = matrix.pop() {
            watch.check()?;
            for (other, &of) in rows.iter().zip(&basic) {
                take(&mut row, other, of);
            }
            let Some(first) = row.iter().position(|x| !x.is_zero()) else { continue };
            scale(&mut row, first);
            rows.iter_mut().for_each(|other| take(other, &row, first));
            rows.push(row);
            basic.push(first);
        }
        let mut row_of = vec![None; unknowns];
        basic.iter().enumerate().for_each(|(row, &of)| row_of[of] = Some(row));
        Ok(Vertex { rows, basic, row_of, values, limits })
    }

    /// True if the equations alone determine the unknown.
    pub fn is_determined(&self, unknown: usize) -> bool {
        self.row_of[unknown].is_some_and(|row| {
            self.rows[row].iter().enumerate().all(|(j, x)| j == unknown || x.is_zero())
        })
    }

    /// Moves every unknown that is not basic to 0, or makes it basic where another one blocks it.
    pub fn settle(&mut self, watch: &Watch) -> Result<(), Stop> {
        for unknown in 0..self.values.len() {
            while self.row_of[unknown].is_none()
                && !self.values[unknown].is_zero()
                && !self.is_at_limit(unknown)
            {
                watch.check()?;
                self.advance(unknown, false);
            }
        }
        Ok(())
    }

    /// The largest or least value of an unknown; `None` if it is unlimited.
    pub fn extreme(
        mut self,
        unknown: usize,
        largest: bool,
        watch: &Watch,
    ) -> Result<Option<Rational>, Stop> {
        loop {
            watch.check()?;
            let Some((entering, up)) = self.improving(unknown, largest) else {
                return Ok(Some(self.values[unknown].clone()));
            };
            if !self.advance(entering, up) {
                return Ok(None);
            }
        }
    }

    /// The first unknown that is not basic and whose move helps, and its direction.
    fn improving(&self, unknown: usize, largest: bool) -> Option<(usize, bool)> {
        let row = self.row_of[unknown].map(|row| &self.rows[row]);
        (0..self.values.len()).filter(|&j| self.row_of[j].is_none()).find_map(|j| {
            // How the objective changes if unknown j grows.
            let gain = match row {
                None if j == unknown => Ordering::Greater,
                None => Ordering::Equal,
                Some(row) => row[j].sign().reverse(),
            };
            let gain = if largest { gain } else { gain.reverse() };
            match gain {
                Ordering::Greater if !self.is_at_limit(j) => Some((j, true)),
                Ordering::Less if !self.values[j].is_zero() => Some((j, false)),
                _ => None,
            }
        })
    }

    fn is_at_limit(&self, unknown: usize) -> bool {
        self.limits[unknown].as_ref() == Some(&self.values[unknown])
    }

    /// How far an unknown can move in one direction by itself.
    fn room(&self, unknown: usize, up: bool) -> Option<Rational> {
        match up {
            true => self.limits[unknown].as_ref().map(|limit| limit - &self.values[unknown]),
            false => Some(self.values[unknown].clone()),
        }
    }

    /// Moves an unknown that is not basic as far as it and the basic ones can go; a basic one that blocks it changes
    /// places with it. False if nothing blocks it.
    fn advance(&mut self, entering: usize, up: bool) -> bool {
        let mut way = self.room(entering, up);
        let mut stops: Option<usize> = None;
        for (row, &of) in self.basic.iter().enumerate() {
            let rate = &self.rows[row][entering];
            if rate.is_zero() {
                continue;
            }
            // It moves against the sign of its rate.
            let basic_up = (rate.sign() == Ordering::Less) == up;
            let Some(room) = self.room(of, basic_up) else { continue };
            let rate = if rate.sign() == Ordering::Less { -rate.clone() } else { rate.clone() };
            let Some(far) = room.divide(&rate) else { continue };
            let sooner = match way.as_ref().map(|way| far.cmp(way)) {
                None | Some(Ordering::Less) => true,
                Some(Ordering::Equal) => stops.is_some_and(|row| of < self.basic[row]),
                Some(Ordering::Greater) => false,
            };
            if sooner {
                way = Some(far);
                stops = Some(row);
            }
        }
        let Some(way) = way else { return false };
        let way = if up { way } else { -way };
        self.values[entering] = &self.values[entering] + &way;
        for (row, &of) in self.basic.iter().enumerate() {
            let rate = &self.rows[row][entering];
            if !rate.is_zero() {
                self.values[of] = &self.values[of] - &(rate * &way);
            }
        }
        if let Some(row) = stops {
            self.exchange(row, entering);
        }
        true
    }

    /// Makes an unknown basic in place of that of a row.
    fn exchange(&mut self, row: usize, entering: usize) {
        let mut pivot = std::mem::take(&mut self.rows[row]);
        scale(&mut pivot, entering);
        for other in &mut self.rows {
            if !other.is_empty() {
                take(other, &pivot, entering);
            }
        }
        self.rows[row] = pivot;
        self.row_of[self.basic[row]] = None;
        self.row_of[entering] = Some(row);
        self.basic[row] = entering;
    }
}

/// Divides a row by its number at the position, which is not 0, so that it has 1 there.
fn scale(row: &mut [Rational], place: usize) {
    let by = row[place].clone();
    for x in row.iter_mut().filter(|x| !x.is_zero()) {
        *x = x.divide(&by).unwrap_or_else(Rational::zero);
    }
}

/// Subtracts the multiple of another row, which has 1 at the position, that leaves 0 there.
fn take(row: &mut [Rational], other: &[Rational], place: usize) {
    if row[place].is_zero() {
        return;
    }
    let by = row[place].clone();
    for (x, y) in row.iter_mut().zip(other).filter(|(_, y)| !y.is_zero()) {
        *x = &*x - &(&by * y);
    }
}
