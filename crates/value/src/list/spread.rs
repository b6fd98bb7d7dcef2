//! A list chunk by chunk.
//!
//! ```text
//! name = place:u64be      content = item …
//! ```

use super::{Chunks, List, element};
use crate::error::DecodeError;
use crate::form::{Form, FormMut, FormRef};
use crate::item::Item;
use crate::limits::FormLimits;
use crate::spread::elements::{Spread, Visit, WalkPlace};

const BAD: DecodeError = DecodeError::Corrupt("a chunk of a list");

fn place_of(name: &[u8]) -> Option<u64> {
    name.try_into().ok().map(u64::from_be_bytes)
}

impl Spread for List {
    fn can_spread(&self) -> bool {
        matches!(self.0.read(), FormRef::Native(_))
    }

    fn put_head(&self, _: &mut Vec<u8>) {}

    fn visit_elements(&self, from: WalkPlace, count: usize, visit: &mut Visit<'_>) -> WalkPlace {
        let FormRef::Native(chunks) = self.0.read() else { return WalkPlace::End };
        let mut content = Vec::new();
        let mut seen = 0;
        for chunk in chunks.starting_at(from.cursor()) {
            if seen >= count {
                return WalkPlace::Hash(chunk.place);
            }
            content.clear();
            chunk.items().for_each(|item| {
                item.put(&mut content);
                seen += 1;
            });
            visit(&chunk.place.to_be_bytes(), &content);
        }
        WalkPlace::End
    }

    fn put_content(&self, name: &[u8], out: &mut Vec<u8>) -> bool {
        let FormRef::Native(chunks) = self.0.read() else { return false };
        let chunk = place_of(name).and_then(|place| chunks.at_place(place));
        chunk.inspect(|chunk| chunk.items().for_each(|item| item.put(out))).is_some()
    }

    fn from_head(head: &[u8]) -> Result<List, DecodeError> {
        match head {
            [] => Ok(List(Form::native(Box::default()))),
            _ => Err(DecodeError::Corrupt("a list's head")),
        }
    }

    fn adopt(&mut self, name: &[u8], content: &[u8], _: &FormLimits) -> Result<(), DecodeError> {
        let FormMut::Native(chunks) = self.0.change() else { return Err(BAD) };
        let place = place_of(name).ok_or(BAD)?;
        let (mut rest, mut count, mut elements) = (content, 0, Vec::new());
        while !rest.is_empty() {
            element::put(Item::take(&mut rest).ok_or(DecodeError::Truncated)?, &mut elements);
            count += 1;
        }
        let chunks: &mut Chunks = chunks;
        if chunks.adopt(place, &elements, count) { Ok(()) } else { Err(BAD) }
    }
}
