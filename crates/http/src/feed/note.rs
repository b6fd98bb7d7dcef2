//! What a client is told, whatever the form.

/// The words of a command.
pub(super) type Words = Vec<Vec<u8>>;

/// Called with each thing that the client is told.
pub(super) type Each<'a> = &'a mut dyn FnMut(Note<'_>);

/// What a client is told.
#[derive(Clone, Copy, Debug)]
pub(super) enum Note<'a> {
    /// An entry of a stream.
    Entry {
        id: &'a [u8],
        /// What is under the field `data`, if that is the only one.
        data: Option<&'a [u8]>,
        /// Names and values, as a map.
        fields: &'a [u8],
    },
    /// A message of a channel.
    Message {
        channel: &'a [u8],
        /// The pattern that the channel fits, if it is for that.
        pattern: Option<&'a [u8]>,
        body: &'a [u8],
    },
    /// A message of a queue, which the client holds.
    Delivery {
        token: &'a [u8],
        body: &'a [u8],
        /// How often it was delivered, when it was put, its priority: each a reply.
        numbers: [&'a [u8]; 3],
    },
}

/// The words of a command, of which those that are always the same come first.
pub(super) fn words(fixed: &str, rest: &[&[u8]]) -> Words {
    let fixed = fixed.split(' ').map(|word| word.as_bytes().to_vec());
    fixed.chain(rest.iter().map(|word| word.to_vec())).collect()
}
