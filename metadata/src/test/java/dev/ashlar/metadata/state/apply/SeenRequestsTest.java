package dev.ashlar.metadata.state.apply;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class SeenRequestsTest {
  /** Without forgetting it is a set. */
  @Property
  void knowsWhatItHasSeen(@ForAll List<@LongRange(min = 1, max = 60) Long> requests) {
    SeenRequests seen = new SeenRequests(0);
    Set<Long> model = new HashSet<>();
    for (long request : requests) {
      assertEquals(model.add(request), seen.add(request));
    }
  }

  @Test
  void aGreatLeapForgetsTheOldest() {
    SeenRequests seen = new SeenRequests(5);
    assertTrue(seen.add(Long.MAX_VALUE));
    assertFalse(seen.add(6), "forgotten, so it may have been seen");
    assertTrue(seen.add(Long.MAX_VALUE - SeenRequests.OVERTAKEN_MAX));
    assertFalse(seen.add(Long.MAX_VALUE - SeenRequests.OVERTAKEN_MAX), "seen");
    assertFalse(seen.add(Long.MAX_VALUE - SeenRequests.OVERTAKEN_MAX - 1));
  }

  @Test
  void whatHasExpiredIsForgotten() {
    SeenRequests seen = new SeenRequests(0);
    assertTrue(seen.add(10));
    seen.forget(7);
    assertFalse(seen.add(7));
    assertTrue(seen.add(8));
  }
}
