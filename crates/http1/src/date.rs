//! HOT PATH
//! `Date` of responses (RFC 9110, sections 5.6.7 and 6.6.1): written once a second.

/// How many bytes a date has.
pub const DATE_BYTES: usize = 29;

const DAYS: [&[u8; 3]; 7] = [b"Thu", b"Fri", b"Sat", b"Sun", b"Mon", b"Tue", b"Wed"];
#[rustfmt::skip]
const MONTHS: [&[u8; 3]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];
/// The last second of the year 9999: there is no fifth digit.
const SECOND_MAX: u64 = 253_402_300_799;

/// The date as of some second. One per thread.
#[derive(Clone, Debug)]
pub struct Date {
    second: u64,
    text: [u8; DATE_BYTES],
}

impl Date {
    /// The date as of this time.
    pub fn new(unix_ms: u64) -> Date {
        let second = (unix_ms / 1000).min(SECOND_MAX);
        Date { second, text: text_of(second) }
    }

    /// Makes it the date as of this time.
    #[inline]
    pub fn set(&mut self, unix_ms: u64) {
        if self.second != unix_ms / 1000 {
            *self = Date::new(unix_ms);
        }
    }

    /// As IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
    #[inline]
    pub fn text(&self) -> &[u8; DATE_BYTES] {
        &self.text
    }
}

#[cold]
fn text_of(second: u64) -> [u8; DATE_BYTES] {
    let (days, second) = (second / 86_400, second % 86_400);
    let (year, month, day) = civil(days);
    let mut text = *b"Thu, 00 Jan 0000 00:00:00 GMT";
    text[..3].copy_from_slice(DAYS[(days % 7) as usize]);
    text[8..11].copy_from_slice(MONTHS[month]);
    let numbers = [
        (5, day),
        (12, year / 100),
        (14, year % 100),
        (17, second / 3600),
        (20, second / 60 % 60),
        (23, second % 60),
    ];
    for (at, number) in numbers {
        text[at] = b'0' + (number / 10) as u8;
        text[at + 1] = b'0' + (number % 10) as u8;
    }
    text
}

/// Year, month (from 0) and day of a day that is counted from 1970-01-01. Years are counted from
/// March, so that a leap day is the last of its year, in periods of 400 years, which all have
/// 146,097 days (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn civil(days: u64) -> (u64, usize, u64) {
    let days = days + 719_468;
    let (period, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let is_next_year = month >= 10;
    let month = if is_next_year { month - 10 } else { month + 2 };
    (period * 400 + year + u64::from(is_next_year), month as usize, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        for (second, text) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (SECOND_MAX, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (u64::MAX / 1000, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] {
            let date = Date::new((second * 1000).saturating_add(999));
            assert_eq!(str::from_utf8(date.text()), Ok(text));
        }
    }

    #[test]
    fn every_day_of_four_centuries_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1970, 0, 1);
        for days in 0..146_097 {
            assert_eq!(civil(days), (year, month, day));
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let last = match month {
                1 => 28 + u64::from(is_leap),
                3 | 5 | 8 | 10 => 30,
                _ => 31,
            };
            day += 1;
            if day > last {
                (month, day) = (month + 1, 1);
            }
            if month == 12 {
                (year, month) = (year + 1, 0);
            }
        }
    }

    #[test]
    fn it_changes_with_the_second() {
        let mut date = Date::new(1_000);
        date.set(1_999);
        assert_eq!(date.text(), Date::new(1_000).text());
        date.set(2_000);
        assert!(date.text().ends_with(b"00:00:02 GMT"));
        date.set(1_000);
        assert!(date.text().ends_with(b"00:00:01 GMT"));
    }
}
