!     Fixed form, with bspf.h: a number goes once around all processes,
!     and each of them adds its own.
!
!         ring [PROCESSES]
      PROGRAM ring
      IMPLICIT NONE
      INCLUDE 'bspf.h'
      INTEGER i, p, s, wanted, total, next
      CHARACTER*32 text

      wanted = bspnprocs()
      IF (COMMAND_ARGUMENT_COUNT() .GT. 0) THEN
        CALL GET_COMMAND_ARGUMENT(1, text)
        READ (text, *) wanted
      END IF
      CALL bspbegin(wanted)
      p = bspnprocs()
      s = bsppid()
      total = 0
      CALL bsppushreg(total, 4)
      CALL bspsync()
      DO i = 0, p - 1
        IF (s .EQ. i) THEN
          next = total + s
          CALL bspput(MOD(s + 1, p), next, total, 0, 4)
        END IF
        CALL bspsync()
      END DO
      IF (s .EQ. 0) THEN
        IF (total .NE. p * (p - 1) / 2) THEN
          CALL bspabort('ring: the number came back wrong')
        END IF
        WRITE (*, '(A,I0,A,I0,A)') 'ring: ok, ', total,
     &    ' came back from ', p, ' processes'
        CALL FLUSH(6)
      END IF
      CALL bsppopreg(total)
      CALL bspend()
      END
