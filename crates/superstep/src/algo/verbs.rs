//! The verbs of this module, each a type of its own.
//!
//! What a member is about to do is told from what another does by the types of the items that its verbs place. Verbs
//! whose items work alike, such as a reduction and a prefix, differ in this type and so in the check.

/// A verb, and how messages name it.
pub(super) trait Verb: 'static {
    const NAME: &'static str;
}

macro_rules! verbs {
    ($($verb:ident $name:literal)*) => { $(
        pub(super) enum $verb {}

        impl Verb for $verb {
            const NAME: &'static str = $name;
        }
    )* };
}

verbs! {
    Reduce "reduce"
    ReduceTo "reduce_to"
    Prefix "prefix"
    PrefixWith "prefix_with"
    BroadcastValue "broadcast"
    BroadcastSlice "broadcast_slice"
    CollectValues "collect"
    CollectSlices "collect_slice"
    CollectValuesAt "collect_at"
    CollectSlicesAt "collect_slice_at"
    DealValues "deal"
    DealSlices "deal_slices"
    ExchangeValues "exchange"
    ExchangeSlices "exchange_slices"
}
