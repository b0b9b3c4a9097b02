//! The labels of randomised cells, and of what is made of them.
