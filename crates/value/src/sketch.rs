//! Collections before their types are written: a packed row of items.

/// Makes a type that is a row of items.
macro_rules! sketch {
    ($type:ident, $encoding:literal) => {
        /// A collection.
        #[repr(transparent)]
        #[derive(Default)]
        pub struct $type(pub(crate) $crate::form::Form<u64>);

        impl $type {
            /// Appends an item.
            pub fn push(&mut self, item: &[u8], edits: &mut $crate::Edits<'_>) {
                let mut bytes = Vec::new();
                $crate::item::Item::of(item).put(&mut bytes);
                if let $crate::form::FormMut::Packed(packed) = self.0.change() {
                    packed.extend(&bytes);
                }
                edits.write(|out| out.extend_from_slice(&bytes));
            }

            fn packed(&self) -> &$crate::packed::Packed {
                match self.0.read() {
                    $crate::form::FormRef::Packed(packed) => packed,
                    $crate::form::FormRef::Native(_) => unreachable!(),
                }
            }
        }

        impl $crate::Collection for $type {
            const KIND: $crate::Kind = $crate::Kind::$type;

            fn new() -> $type {
                $type::default()
            }

            fn len(&self) -> usize {
                $crate::item::Items(self.packed().bytes()).count()
            }

            fn heap_bytes(&self) -> usize {
                self.packed().heap_bytes()
            }

            fn encoding(&self) -> &'static str {
                $encoding
            }

            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(self.packed().bytes());
            }

            fn decode(bytes: &[u8], limits: &$crate::Limits) -> Result<$type, $crate::DecodeError> {
                let mut it = $type::new();
                it.apply(bytes, limits)?;
                Ok(it)
            }

            fn apply(
                &mut self,
                edits: &[u8],
                _: &$crate::Limits,
            ) -> Result<(), $crate::DecodeError> {
                let mut rest = edits;
                while !rest.is_empty() {
                    let item = $crate::item::Item::take(&mut rest)
                        .ok_or($crate::DecodeError::Truncated)?;
                    let mut digits = [0; $crate::item::NUMBER_CHARS_MAX];
                    self.push(item.spell(&mut digits), &mut $crate::Edits::none());
                }
                Ok(())
            }

            $crate::value::conversions!($type);
        }
    };
}
pub(crate) use sketch;
