//! What can be asked for on the command line.

use std::path::PathBuf;

/// The kernels there are.
///
/// ```
/// assert_eq!(superstep_programs::gap::Kernel::Bfs.name(), "bfs");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kernel {
    /// Breadth-first search: a parent for each vertex that can be reached from the source.
    Bfs,
    /// Shortest ways from the source along edges with lengths.
    Sssp,
    /// `PageRank`.
    Pr,
    /// Connected components; directions of edges do not matter.
    Cc,
    /// Betweenness centrality, by the ways from a few sources.
    Bc,
    /// The number of triangles.
    Tc,
}

impl Kernel {
    /// Its name in the suite.
    ///
    /// ```
    /// assert_eq!(superstep_programs::gap::Kernel::Tc.name(), "tc");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Bfs => "bfs",
            Self::Sssp => "sssp",
            Self::Pr => "pr",
            Self::Cc => "cc",
            Self::Bc => "bc",
            Self::Tc => "tc",
        }
    }

    /// What it is called among all programs.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Bfs => "gap bfs",
            Self::Sssp => "gap sssp",
            Self::Pr => "gap pr",
            Self::Cc => "gap cc",
            Self::Bc => "gap bc",
            Self::Tc => "gap tc",
        }
    }
}

/// How edges are drawn.
///
/// ```
/// use superstep_programs::gap::Kind;
///
/// assert_ne!(Kind::Kron, Kind::Uniform);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// As in Graph500: few vertices have many edges, and many have none.
    Kron,
    /// Each end is any vertex.
    Uniform,
}

/// A kernel, its graph, and what else it needs.
///
/// ```
/// use superstep_programs::gap::{Kernel, Options};
///
/// assert_eq!(Options::new(Kernel::Pr).scale, 14);
/// ```
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Which of them.
    #[arg(value_enum)]
    pub kernel: Kernel,
    /// Draw a graph of 2^N vertices.
    #[arg(long, value_name = "N", default_value_t = 14, value_parser = clap::value_parser!(u32).range(0..=31))]
    pub scale: u32,
    /// Draw so many edges for each vertex; each leads both ways.
    #[arg(long, value_name = "K", default_value_t = 16, value_parser = degree)]
    pub degree: usize,
    /// How edges are drawn.
    #[arg(long, value_enum, default_value = "kron")]
    pub kind: Kind,
    /// What is drawn depends on this number alone: edges, lengths that are not given, and sources.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Read the graph from a file: .el, .wel, or a square .mtx. Edges lead one way, unless it is a symmetric .mtx.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["scale", "degree", "kind"])]
    pub file: Option<PathBuf>,
    /// Let the edges of a file lead both ways.
    #[arg(short, long, requires = "file")]
    pub symmetrize: bool,
    /// bfs, sssp, bc: begin at this vertex; otherwise at one that is drawn of those with edges.
    #[arg(long, value_name = "V")]
    pub source: Option<usize>,
    /// bc: begin at so many vertices, one after the other.
    #[arg(long, value_name = "K", default_value_t = 1, conflicts_with = "source")]
    pub sources: usize,
    /// sssp: how wide buckets are; otherwise an eighth of the longest edge, divided by the mean degree.
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u32).range(1..))]
    pub delta: Option<u32>,
    /// pr: stop when an iteration changes all ranks together by less than this.
    #[arg(long, value_name = "T", default_value_t = 1e-4)]
    pub tolerance: f64,
    /// pr: stop after so many iterations.
    #[arg(long, value_name = "K", default_value_t = 20)]
    pub iterations: usize,
    /// Do it so many times, each time from other sources if these are drawn.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = trials)]
    pub trials: usize,
    /// Do not check the answers.
    #[arg(long)]
    pub unchecked: bool,
}

/// How many edges may be drawn for each vertex.
fn degree(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&degree| degree <= 1 << 20).ok_or_else(|| "it is a number up to 1048576".to_owned())
}

fn trials(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&trials| trials > 0).ok_or_else(|| "it is a number from 1 on".to_owned())
}

impl Options {
    /// A kernel with everything else as it is where nothing is said.
    ///
    /// ```
    /// use superstep_programs::gap::{Kernel, Options};
    ///
    /// let small = Options { scale: 6, ..Options::new(Kernel::Bfs) };
    /// assert_eq!((small.degree, small.trials), (16, 1));
    /// ```
    pub fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            scale: 14,
            degree: 16,
            kind: Kind::Kron,
            seed: 1,
            file: None,
            symmetrize: false,
            source: None,
            sources: 1,
            delta: None,
            tolerance: 1e-4,
            iterations: 20,
            trials: 1,
            unchecked: false,
        }
    }
}
