/* A clock that a test steps: CLOCK_REALTIME of one program, by the seconds that a file holds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long offset_s(void)
{
    const char *file = getenv("CLOCK_OFFSET_FILE");
    char text[32] = "";
    int opened = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    if (opened >= 0) {
        if (read(opened, text, sizeof text - 1) < 0)
            text[0] = 0;
        close(opened);
    }
    return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int failed = syscall(SYS_clock_gettime, clock, time);
    if (!failed && clock == CLOCK_REALTIME)
        time->tv_sec += offset_s();
    return failed;
}
