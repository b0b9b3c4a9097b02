//! The labels of itemsets that are drawn privately.
