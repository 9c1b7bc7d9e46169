//! Numbers of chance from a seed: SplitMix64 (Steele, Lea, Flood 2014).

/// A stream of them, the same for the same seed.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one; 0 where that is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        // The greatest half of the product: the bias is below limit / 2^64.
        ((u128::from(self.next_u64()) * u128::from(limit)) >> 64) as u64
    }

    /// Puts them into an order of chance.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1);
            items.swap(last, other as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut chance = Chance::new(1_234_567);
        let numbers = [(); 3].map(|()| chance.next_u64());
        let known = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(numbers, known);
    }

    proptest! {
        #[test]
        fn a_number_is_below_its_limit(seed: u64, limit in 1..=u64::MAX) {
            prop_assert!(Chance::new(seed).below(limit) < limit);
            prop_assert_eq!(Chance::new(seed).below(0), 0);
        }

        #[test]
        fn an_order_of_chance_has_each_item_once(seed: u64, count in 0_usize..40) {
            let mut items: Vec<_> = (0..count).collect();
            Chance::new(seed).shuffle(&mut items);
            items.sort_unstable();
            prop_assert_eq!(items, (0..count).collect::<Vec<_>>());
        }
    }
}
