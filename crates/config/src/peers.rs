//! Clients by their addresses, for options that say which of them are served.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses of one family from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerRange {
    first: IpAddr,
    last: IpAddr,
}

impl PeerRange {
    /// Reads an address, a network such as `10.0.0.0/8`, or `10.0.0.1-10.0.0.9`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(word: &str) -> Result<PeerRange, String> {
        if let Some((address, bits)) = word.split_once('/') {
            return network(address, bits);
        }
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let (first, last) = (address(first)?, address(last)?);
        if first.is_ipv4() != last.is_ipv4() || first > last {
            return Err(format!("'{word}' does not go from a lower address to a higher one"));
        }
        Ok(PeerRange { first, last })
    }

    /// Whether a client with this address is meant.
    pub fn has(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        peer.is_ipv4() == self.first.is_ipv4() && (self.first..=self.last).contains(&peer)
    }
}

fn address(word: &str) -> Result<IpAddr, String> {
    let address: Option<IpAddr> = word.parse().ok();
    // A client with such an address is known by the IPv4 address within it.
    let address = address.filter(|address| address.to_canonical() == *address);
    address.ok_or_else(|| format!("'{word}' is no address: 10.0.0.1, 10.0.0.0/8 or fd00::/8 is"))
}

fn network(word: &str, bits: &str) -> Result<PeerRange, String> {
    let first = address(word)?;
    let most = if first.is_ipv4() { 32 } else { 128 };
    let digits = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    let bits = bits.parse().ok().filter(|&bits: &u32| digits && bits <= most);
    let Some(bits) = bits else {
        return Err(format!("the network of '{word}' has 0 to {most} bits"));
    };
    let (start, last) = match first {
        IpAddr::V4(address) => {
            let others = u32::MAX.checked_shr(bits).unwrap_or(0);
            let (start, last) = (address.to_bits() & !others, address.to_bits() | others);
            (IpAddr::V4(Ipv4Addr::from_bits(start)), IpAddr::V4(Ipv4Addr::from_bits(last)))
        }
        IpAddr::V6(address) => {
            let others = u128::MAX.checked_shr(bits).unwrap_or(0);
            let (start, last) = (address.to_bits() & !others, address.to_bits() | others);
            (IpAddr::V6(Ipv6Addr::from_bits(start)), IpAddr::V6(Ipv6Addr::from_bits(last)))
        }
    };
    if start != first {
        // It may be the number of bits that is wrong, and then others would get in.
        return Err(format!(
            "'{word}/{bits}' begins within a network: did you mean {start}/{bits}?"
        ));
    }
    Ok(PeerRange { first, last })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(range: &str, peer: &str) -> bool {
        PeerRange::parse(range).unwrap().has(peer.parse().unwrap())
    }

    #[test]
    fn ranges_have_their_addresses() {
        for (range, inside, outside) in [
            ("127.0.0.1", &["127.0.0.1", "::ffff:127.0.0.1"][..], &["127.0.0.2", "::1"][..]),
            ("10.0.0.0/8", &["10.0.0.0", "10.255.255.255"], &["9.255.255.255", "11.0.0.0"]),
            ("10.1.2.3/32", &["10.1.2.3"], &["10.1.2.2", "10.1.2.4"]),
            ("0.0.0.0/0", &["0.0.0.0", "255.255.255.255"], &["::", "::1"]),
            ("::/0", &["::1", "ffff::"], &["127.0.0.1"]),
            ("fd00::/8", &["fd00::", "fdff::1"], &["fc00::1", "fe00::"]),
            ("10.0.0.1-10.0.1.9", &["10.0.0.1", "10.0.0.255", "10.0.1.9"], &["10.0.1.10"]),
            ("fd00::1-fd00::9", &["fd00::5"], &["fd00::a", "10.0.0.1"]),
        ] {
            assert!(inside.iter().all(|peer| has(range, peer)), "{range}");
            assert!(!outside.iter().any(|peer| has(range, peer)), "{range}");
        }
    }

    #[test]
    fn what_is_no_range_is_said() {
        for (word, why) in [
            ("", "no address"),
            ("localhost", "no address"),
            ("10.0.0.256", "no address"),
            ("10.0.0.1:80", "no address"),
            ("::ffff:10.0.0.1", "no address"),
            ("10.0.0.0/33", "0 to 32 bits"),
            ("fd00::/129", "0 to 128 bits"),
            ("10.0.0.0/", "0 to 32 bits"),
            ("10.0.0.0/+8", "0 to 32 bits"),
            ("10.0.0.1/8", "did you mean 10.0.0.0/8?"),
            ("10.0.0.9-10.0.0.1", "lower address"),
            ("10.0.0.1-fd00::", "lower address"),
        ] {
            let refused = PeerRange::parse(word).unwrap_err();
            assert!(refused.contains(why), "{word}: {refused}");
        }
    }
}
