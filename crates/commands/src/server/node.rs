//! Writes the trees that the command table makes as replies.

use basalt_resp::Reply;
use basalt_spec::Node;

/// One `match`: a kind of node is a kind of reply.
pub(super) fn write(node: &Node<'_>, reply: &mut Reply<'_>) {
    match node {
        Node::Bulk(text) => reply.bulk(text.as_bytes()),
        Node::Simple(text) => reply.simple(text),
        Node::Integer(number) => reply.integer(*number),
        Node::Array(nodes) => {
            reply.array(nodes.len());
            nodes.iter().for_each(|node| write(node, reply));
        }
        Node::Set(nodes) => {
            reply.set(nodes.len());
            nodes.iter().for_each(|node| write(node, reply));
        }
        Node::Map(fields) => {
            reply.map(fields.len());
            for (name, node) in fields {
                reply.bulk(name.as_bytes());
                write(node, reply);
            }
        }
    }
}
