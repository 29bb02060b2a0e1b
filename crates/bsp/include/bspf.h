!     BSPlib for Fortran without modules: INCLUDE 'bspf.h', in fixed or in free form.
!
!     There are no interfaces here, so one program unit may not pass buffers of different types to the same procedure
!     unless it is compiled with -fallow-argument-mismatch. The module `bsp` has no such limit.
!
      INTEGER bspnprocs, bsppid
      DOUBLE PRECISION bsptime
      EXTERNAL bspnprocs, bsppid, bsptime
      EXTERNAL bspbegin, bspend, bspinit, bspabort, bspsync
      EXTERNAL bsppushreg, bsppopreg
      EXTERNAL bspput, bsphpput, bspget, bsphpget
      EXTERNAL bspsettagsize, bspsend, bspqsize, bspgettag, bspmove
      EXTERNAL bspbcast, bspfold, bspscan
      EXTERNAL bspgather, bspscatter, bspexchange
      INTEGER bspunregistered(2)
      COMMON /bspunreg/ bspunregistered
