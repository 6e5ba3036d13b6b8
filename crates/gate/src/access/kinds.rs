//! Which kinds of access there are: closed at compile time, listed at run time, and declared by a
//! tool as a tuple of types.

use super::{AskUser, Declare, ReadFile, ReadTree, Spawn, WriteFile};

/// One effect with its exact target and payload. Sealed.
pub trait Access: sealed::Sealed {}

/// One row per kind. An enum, not `dyn Any`: a new kind does not compile until every gate has said
/// what it does with it.
macro_rules! kinds {
    ($($kind:ident: $what:literal),* $(,)?) => {
        /// A kind of access, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind { $(#[doc = $what] $kind),* }

        pub(crate) use sealed::{AnyAccess, Place};
        pub(crate) mod sealed {
            use super::*;

            /// Any access; public in name only, the module is not.
            #[derive(Debug)]
            pub enum AnyAccess { $($kind($kind)),* }

            impl AnyAccess {
                pub fn kind(&self) -> Kind {
                    match self { $(Self::$kind(_) => Kind::$kind),* }
                }
            }

            pub trait Sealed: std::fmt::Debug + Send + Sync + Sized + 'static {
                const KIND: Kind;
                fn into_any(self) -> AnyAccess;
                fn from_any(any: AnyAccess) -> Option<Self>;
            }
            pub trait Place {}
            pub trait List {}

            $(impl Sealed for $kind {
                const KIND: Kind = Kind::$kind;
                fn into_any(self) -> AnyAccess { AnyAccess::$kind(self) }
                fn from_any(any: AnyAccess) -> Option<Self> {
                    if let AnyAccess::$kind(it) = any { Some(it) } else { None }
                }
            })*
        }
        $(impl Access for $kind {})*
    };
}

kinds!(
    ReadFile: "Reading one file.",
    ReadTree: "Listing or searching below a directory.",
    WriteFile: "Replacing one file.",
    Spawn: "Running a command.",
    AskUser: "Putting a question to a person.",
    Declare: "A permission that has no effect of its own.",
);

/// The kinds a tool declares: a tuple of access types, enumerable at run time.
pub trait Kinds: sealed::List + Send + Sync + 'static {
    /// The same as values.
    const LIST: &'static [Kind];
}

/// That a list of kinds holds `A`. `P` is found by inference; it only keeps the impls apart, and is
/// sealed so that no other crate can add one.
#[diagnostic::on_unimplemented(
    message = "this tool does not declare the access kind `{A}`",
    note = "add it to the tool's `type Kinds`"
)]
pub trait Includes<A: Access, P: sealed::Place> {}

macro_rules! places {
    ($($place:ident),*) => {$(
        /// A place in a tuple of kinds.
        #[derive(Debug)]
        pub struct $place;
        impl sealed::Place for $place {}
    )*};
}
places!(First, Second, Third, Fourth);

macro_rules! list {
    ($all:ty, [$($param:ident),+], $($kind:ident at $place:ident),+) => {
        impl<$($param: Access),+> sealed::List for $all {}
        impl<$($param: Access),+> Kinds for $all {
            const LIST: &'static [Kind] = &[$($kind::KIND),+];
        }
        list!(@each $all, [$($param),+], $($kind at $place),+);
    };
    (@each $all:ty, $params:tt, $($kind:ident at $place:ident),+) => {
        $(list!(@one $all, $params, $kind at $place);)+
    };
    (@one $all:ty, [$($param:ident),+], $kind:ident at $place:ident) => {
        impl<$($param: Access),+> Includes<$kind, $place> for $all {}
    };
}
list!((A,), [A], A at First);
list!((A, B), [A, B], A at First, B at Second);
list!((A, B, C), [A, B, C], A at First, B at Second, C at Third);
list!((A, B, C, D), [A, B, C, D], A at First, B at Second, C at Third, D at Fourth);
