package dev.ashlar.server.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.protocol.model.Profile;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the start message says of the drives. */
class StartMessageTest {
  private static final Profile FOUR_TWO = new Profile(4, 2, 16384);
  private static final Profile ONE_ONE = new Profile(1, 1, 16384);

  @Test
  void oneProfile() {
    List<Profile> profiles = List.of(FOUR_TWO);
    assertEquals(
        "6 drives, 4+2: survives the loss of any 2 folders, but they share one device",
        StartMessage.data(profiles, 6, 1, 0));
    assertEquals(
        "6 drives, 4+2: survives the loss of any 2; 3 NOT AVAILABLE NOW: MOST OBJECTS CANNOT BE"
            + " READ",
        StartMessage.data(profiles, 6, 6, 3));
  }

  @Test
  void theWeakestOfSeveralProfilesCounts() {
    List<Profile> profiles = List.of(FOUR_TWO, ONE_ONE);
    assertEquals(
        "6 drives, 4+2 and 1+1: survives the loss of any 1", StartMessage.data(profiles, 6, 6, 0));
    assertEquals(
        "6 drives, 4+2 and 1+1: survives the loss of any 1; 3 NOT AVAILABLE NOW: SOME OBJECTS"
            + " CANNOT BE READ",
        StartMessage.data(profiles, 6, 6, 3));
  }

  @Test
  void dataWithoutParityIsNotProtected() {
    Profile none = new Profile(1, 0, 16384);
    assertEquals(
        "1 drive, 1+0: NOTHING IS PROTECTED, the loss of a drive is the loss of its data",
        StartMessage.data(List.of(none), 1, 1, 0));
    assertEquals(
        "2 drives, 1+0 and 1+1: NOT ALL IS PROTECTED, the loss of a drive is the loss of its data",
        StartMessage.data(List.of(none, ONE_ONE), 2, 2, 0));
  }
}
