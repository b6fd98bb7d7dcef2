//! The second rows of elements that have an order.

use crate::kind::Kind;
use crate::sorted_set::order_row;

/// Appends the name of the second row that an element of this name and content has; false for kinds
/// without.
pub fn order_name(kind: Kind, name: &[u8], content: &[u8], out: &mut Vec<u8>) -> bool {
    kind == Kind::SortedSet && order_row::put_order_name(name, content, out)
}

/// Appends the content of the second row of an element with this content.
pub fn put_order_content(content: &[u8], out: &mut Vec<u8>) {
    order_row::put_order_content(content, out);
}

/// Elements of this kind have second rows, by which they are read.
pub fn is_ordered(kind: Kind) -> bool {
    kind == Kind::SortedSet
}
