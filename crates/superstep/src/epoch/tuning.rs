//! The settings of an epoch.

/// How many requests travel together, how often a processor looks for what came, and how deep methods may wait.
///
/// The defaults were measured with `superstep bench stream` and `superstep bench ping`.
///
/// | setting | unless set |
/// |---|---|
/// | [`near`](Self::near) | 32 KiB, 4096 requests |
/// | [`far`](Self::far) | 32 KiB, 4096 requests |
/// | [`poll_every`](Self::poll_every) | 1024 requests |
/// | [`nesting`](Self::nesting) | 64 |
/// | [`window`](Self::window) | 32 letters |
///
/// ```
/// use superstep::{Config, Tuning};
///
/// let sums = Config::new().procs(2).run_all(|g| {
///     let sum = g.object(0);
///     let one_by_one = Tuning::new().near(0, 1).far(0, 1);
///     g.epoch_with(one_by_one, |e| e.send_all(&sum, 1 + e.rank(), |sum, _, x| *sum += x));
///     sum.with(|sum| *sum)
/// });
/// assert_eq!(sums.unwrap(), [3, 3]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "settings do nothing until an epoch has them"]
pub struct Tuning {
    pub(super) near: Bundle,
    pub(super) far: Bundle,
    pub(super) poll_every: u32,
    pub(super) nesting: usize,
    pub(super) window: u64,
}

/// When requests for one processor are sent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bundle {
    pub(super) bytes: usize,
    pub(super) count: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        let usual = Bundle { bytes: 32 << 10, count: 4096 };
        Self { near: usual, far: usual, poll_every: 1024, nesting: 64, window: 32 }
    }
}

impl Tuning {
    /// The settings that were measured to be best for most programs.
    ///
    /// ```
    /// assert_eq!(superstep::Tuning::new(), superstep::Tuning::default());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets when requests to a processor that shares memory with the sender are sent on: when they hold so many bytes,
    /// or when there are so many. At least one request is sent at a time.
    ///
    /// ```
    /// let sum = superstep::Config::new().procs(2).run(|g| {
    ///     let sum = g.object(0);
    ///     g.epoch_with(superstep::Tuning::new().near(256, 4), |e| {
    ///         for x in 1..=100 { e.send(0, &sum, x, |sum, _, x| *sum += x) }
    ///     });
    ///     sum.with(|sum| *sum)
    /// });
    /// assert_eq!(sum.unwrap(), 2 * 5050);
    /// ```
    pub fn near(mut self, bytes: usize, count: usize) -> Self {
        self.near = Bundle { bytes, count: count.max(1) };
        self
    }

    /// Sets when requests to a processor of another process are sent on, like [`near`](Self::near).
    ///
    /// ```
    /// use superstep::{Config, Fabric, Tuning};
    ///
    /// let sum = Config::new().procs(2).fabric(Fabric::Procs).run(|g| {
    ///     let sum = g.object(0);
    ///     g.epoch_with(Tuning::new().far(256, 4), |e| {
    ///         for x in 1..=100 { e.send(0, &sum, x, |sum, _, x| *sum += x) }
    ///     });
    ///     sum.with(|sum| *sum)
    /// });
    /// assert_eq!(sum.unwrap(), 2 * 5050);
    /// ```
    pub fn far(mut self, bytes: usize, count: usize) -> Self {
        self.far = Bundle { bytes, count: count.max(1) };
        self
    }

    /// Sets after how many requests of its own a processor looks for those of others. A small number answers others
    /// sooner, a large one looks in vain less often.
    ///
    /// ```
    /// let settings = superstep::Tuning::new().poll_every(16);
    /// assert_ne!(settings, superstep::Tuning::new());
    /// ```
    pub fn poll_every(mut self, requests: u32) -> Self {
        self.poll_every = requests.max(1);
        self
    }

    /// Sets how many methods may wait inside each other on one processor. While so many wait it runs no further ones;
    /// if they wait for one of those, the epoch fails with [`TooDeep`](crate::ErrorKind::TooDeep).
    ///
    /// ```
    /// use superstep::{Config, Epoch, ErrorKind, Handle, Tuning};
    ///
    /// fn down(_: &mut (), e: &Epoch, levels: Vec<Handle<()>>) -> usize {
    ///     let [next, rest @ ..] = &levels[..] else { return 0 };
    ///     1 + e.call(1 - e.rank(), next, rest.to_vec(), down)
    /// }
    ///
    /// let depth = |bound| Config::new().procs(2).run(|g| {
    ///     let levels: Vec<_> = (0..10).map(|_| g.object(())).collect();
    ///     let handles: Vec<_> = levels.iter().map(|level| level.handle()).collect();
    ///     g.epoch_with(Tuning::new().nesting(bound), |e| if e.rank() == 0 { down(&mut (), e, handles) } else { 0 })
    /// });
    /// assert_eq!(depth(10).unwrap(), 10);
    /// assert_eq!(depth(3).unwrap_err().kind(), ErrorKind::TooDeep);
    /// ```
    pub fn nesting(mut self, methods: usize) -> Self {
        self.nesting = methods.max(1);
        self
    }

    /// Sets how many letters to one processor may be on their way. A body that has sent more serves others until the
    /// receiver has caught up. So what bodies send takes bounded memory, however fast one of them sends.
    ///
    /// A method is not held back, because others may wait for it. But while more than twice as many letters are under
    /// way to one processor, a processor that waits in the epoch or has ended its body begins no requests of others. So
    /// methods that send requests on take bounded memory as well, unless they send them round in a circle.
    ///
    /// ```
    /// let sums = superstep::Config::new().procs(2).run_all(|g| {
    ///     let sum = g.object(0u64);
    ///     g.epoch_with(superstep::Tuning::new().window(2), |e| {
    ///         for x in 0..100_000 { e.send(1 - e.rank(), &sum, x, |sum, _, x| *sum += x) }
    ///     });
    ///     sum.with(|sum| *sum)
    /// });
    /// assert_eq!(sums.unwrap(), [4_999_950_000; 2]);
    /// ```
    pub fn window(mut self, letters: u64) -> Self {
        self.window = letters.max(1);
        self
    }
}
