//! Sizes that say `auto`: what they stand for follows from the memory that the process may have.

/// What `auto` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Automatic {
    /// What the machine lends the process, as far as the server has said so; none by itself.
    Machine,
    /// A share of the budget with which the server started: options that are set at start do not
    /// follow it when it changes.
    Share(Share),
}

/// A share of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Thousandths of the budget.
    pub per_mille: u64,
    /// Bytes that it has at least.
    pub bytes_min: u64,
    /// Bytes that it has at most.
    pub bytes_max: u64,
    /// Bytes that it has without a budget.
    pub bytes_unlimited: u64,
}

impl Share {
    /// What it is of this budget; 0 is no budget.
    pub fn of(self, budget_bytes: u64) -> u64 {
        if budget_bytes == 0 {
            return self.bytes_unlimited;
        }
        let bytes = u128::from(budget_bytes) * u128::from(self.per_mille) / 1000;
        u64::try_from(bytes).unwrap_or(u64::MAX).clamp(self.bytes_min, self.bytes_max)
    }
}

/// The memory that sizes follow, in bytes; 0 for no limit, which it is until the server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct KnownMemory {
    /// What the machine lends the process now.
    pub(crate) machine_bytes: u64,
    /// The budget with which the server started.
    pub(crate) budget_at_start_bytes: u64,
}

impl KnownMemory {
    pub(crate) fn bytes(self, automatic: Automatic) -> u64 {
        match automatic {
            Automatic::Machine => self.machine_bytes,
            Automatic::Share(share) => share.of(self.budget_at_start_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn a_share_keeps_within_its_bounds() {
        let share = Share { per_mille: 60, bytes_min: 4, bytes_max: 100, bytes_unlimited: 50 };
        for (budget, expected) in [(0, 50), (1, 4), (100, 6), (1000, 60), (2000, 100)] {
            assert_eq!(share.of(budget), expected, "of {budget}");
        }
        assert_eq!(share.of(u64::MAX), 100);
    }
}
