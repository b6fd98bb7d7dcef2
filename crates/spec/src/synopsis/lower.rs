//! From items to arguments: which token takes what, and what becomes a group.

use super::syntax::Item;
use crate::argument::{Argument, Kind, Presence, Repeat};

/// The arguments of a run of items.
pub(super) fn sequence(items: &[Item]) -> Vec<Argument> {
    let mut arguments = Vec::new();
    let mut index = 0;
    while let Some(item) = items.get(index) {
        index += 1;
        if let Item::Token(token) = item {
            let taken = taken_by_token(&items[index..]);
            arguments.push(with_token(token, &items[index..index + taken]));
            index += taken;
        } else {
            arguments.push(single(item));
        }
    }
    arguments
}

/// How many of the items after a token belong to it.
fn taken_by_token(items: &[Item]) -> usize {
    match items.first() {
        Some(Item::OneOf(_) | Item::Group(_)) => 1,
        Some(Item::Repeat(repeated)) if matches!(repeated[..], [Item::Group(_)]) => 1,
        _ => items.iter().take_while(|item| is_plain(item)).count(),
    }
}

/// A name, or names repeated without a token of their own.
fn is_plain(item: &Item) -> bool {
    match item {
        Item::Name(_) => true,
        Item::Repeat(items) => matches!(items.first(), Some(Item::Name(_))),
        _ => false,
    }
}

fn with_token(token: &'static str, taken: &[Item]) -> Argument {
    let mut argument = match taken {
        [] => return Argument::pure_token(token),
        [Item::Group(items)] => Argument::group(Kind::Block, sequence(items)),
        [item] => single(item),
        items => Argument::group(Kind::Block, sequence(items)),
    };
    argument.token = Some(token);
    argument
}

fn single(item: &Item) -> Argument {
    match item {
        Item::Token(token) => Argument::pure_token(token),
        Item::Name(name) => Argument::leaf(name),
        Item::OneOf(alternatives) => one_of(alternatives),
        Item::Group(items) => group(items),
        Item::Optional(alternatives) => {
            let mut argument = one_of(alternatives);
            argument.presence = Presence::Optional;
            argument
        }
        Item::Repeat(items) => {
            let mut argument = merged(items);
            let by_token = matches!(items.first(), Some(Item::Token(_)));
            argument.repeat = if by_token { Repeat::ManyWithToken } else { Repeat::Many };
            argument
        }
    }
}

fn one_of(alternatives: &[Vec<Item>]) -> Argument {
    match alternatives {
        [items] => merged(items),
        _ => {
            let children = alternatives.iter().map(|items| merged(items)).collect();
            Argument::group(Kind::OneOf, children)
        }
    }
}

/// One argument for a run of items: itself if it is one, else a block.
fn merged(items: &[Item]) -> Argument {
    let mut arguments = sequence(items);
    match (arguments.pop(), arguments.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            arguments.extend(last);
            Argument::group(Kind::Block, arguments)
        }
    }
}

/// `(…)`: a block even around one name, so that Redis' one-part blocks can be written; only a
/// token with its argument stays as it is.
fn group(items: &[Item]) -> Argument {
    if matches!(items.first(), Some(Item::Token(_))) {
        merged(items)
    } else {
        Argument::group(Kind::Block, sequence(items))
    }
}
