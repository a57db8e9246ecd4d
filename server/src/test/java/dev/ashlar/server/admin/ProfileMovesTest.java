package dev.ashlar.server.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.SaveMove;
import dev.ashlar.server.admin.ProfileMoves.MoveInfo;
import dev.ashlar.server.cluster.BalancedCluster;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class ProfileMovesTest {
  private final BalancedCluster cluster = new BalancedCluster(12, 1);

  ProfileMovesTest() throws Exception {
    cluster.metadata.require(TestBlobs.createBucket("b"));
  }

  private MoveInfo change(String name, String target, String by) throws Exception {
    List<?> made = (List<?>) Objects.requireNonNull(cluster.admin.change(name, target, by));
    assertEquals(1, made.size());
    return (MoveInfo) made.getFirst();
  }

  private List<MoveInfo> moves() throws Exception {
    return ((List<?>) Objects.requireNonNull(cluster.admin.view("profile-moves", "", "")))
        .stream().map(MoveInfo.class::cast).toList();
  }

  private void assertRefused(String why, String name, String target, String by) {
    Admin.RefusedException refusal =
        assertThrows(Admin.RefusedException.class, () -> change(name, target, by));
    assertTrue(String.valueOf(refusal.getMessage()).contains(why), refusal.getMessage());
  }

  private void save(MoveJobRow.Builder job) {
    cluster.metadata.require(Command.newBuilder().setSaveMove(SaveMove.newBuilder().setJob(job)));
  }

  @Test
  void movesAreBegunShownAndStopped() throws Exception {
    assertEquals(List.of(), moves());
    cluster.admin.change("profile-add", "COLD", "8+3");
    MoveInfo begun = change("profile-move", "s3://b/some/prefix", "COLD@20MiB");
    assertEquals(List.of(begun), moves());
    assertEquals("s3://b/some/prefix", begun.source());
    assertEquals("COLD", begun.to());
    assertEquals("waiting", begun.state());
    assertEquals(20 << 20, begun.maxBytesPerSecond());
    assertNull(begun.bytesPerSecond());
    MoveInfo other = change("profile-move", "s3://b", "STANDARD");
    assertEquals("s3://b/", other.source());
    assertEquals("STANDARD", other.to());
    assertNull(other.maxBytesPerSecond());
    assertRefused("in use", "profile-remove", "COLD", "");
    assertEquals("stopped", change("profile-move-stop", "1", "").state());
    assertRefused("has ended", "profile-move-stop", "1", "");
    assertRefused("no move 7", "profile-move-stop", "7", "");
    assertRefused("no move x", "profile-move-stop", "x", "");
    cluster.admin.change("profile-remove", "COLD", "");
    assertEquals(List.of("stopped", "waiting"), moves().stream().map(MoveInfo::state).toList());
  }

  @Test
  void whatCannotBeMovedIsRefusedWithAReason() throws Exception {
    assertRefused("one profile only", "profile-move", "s3://b", "STANDARD");
    cluster.admin.change("profile-add", "COLD", "8+3");
    assertRefused("s3://BUCKET/PREFIX", "profile-move", "b/prefix", "COLD");
    assertRefused("no bucket other", "profile-move", "s3://other/x", "COLD");
    assertRefused("no profile HOT", "profile-move", "s3://b", "HOT");
    assertRefused("", "profile-move", "s3://b", "COLD@fast");
    for (int i = 0; i < 16; i++) {
      change("profile-move", "s3://b", "COLD");
    }
    assertRefused("too many moves", "profile-move", "s3://b", "COLD");
  }

  @Test
  void timeLeftFollowsFromTheAveragePace() throws Exception {
    cluster.admin.change("profile-add", "COLD", "8+3");
    change("profile-move", "s3://b", "COLD");
    save(
        cluster.metadata.moveJobs().getFirst().toBuilder()
            .setState(MoveJobRow.State.RUNNING)
            .setBytesFound(100_000)
            .setBytesPassed(40_000)
            .setWorkedMs(2_000));
    MoveInfo running = moves().getFirst();
    assertEquals(20_000, running.bytesPerSecond());
    assertEquals(3, running.secondsLeft());
    save(
        cluster.metadata.moveJobs().getFirst().toBuilder()
            .setState(MoveJobRow.State.DONE)
            .setBytesPassed(120_000));
    MoveInfo done = moves().getFirst();
    assertEquals(100_000, done.passedBytes(), "what came later was not found");
    assertNull(done.secondsLeft());
  }
}
