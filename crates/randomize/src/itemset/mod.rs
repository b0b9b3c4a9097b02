//! The itemset mechanism.
