package dev.ashlar.server.cli.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.protocol.client.MetadataPeers;
import dev.ashlar.protocol.message.PeerStanding.Condition;
import dev.ashlar.protocol.message.PeersChangeAnswer;
import dev.ashlar.protocol.message.PeersChangeStatus;
import dev.ashlar.protocol.message.PeersChangeStatus.State;
import dev.ashlar.protocol.message.PeersStatus;
import dev.ashlar.server.admin.Admin;
import dev.ashlar.server.admin.MetadataAdmin;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class MetadataAdminTest {
  private static final PeersStatus THREE =
      PeersStatus.newBuilder()
          .setCommitted(100)
          .addPeers(member("m1", 100).setLeads(true))
          .addPeers(member("m2", 97))
          .addPeers(PeersStatus.Peer.newBuilder().setId("m3").setAddress("m3:9002"))
          .build();

  private final List<String> asked = new ArrayList<>();
  private final Deque<PeersStatus> statuses = new ArrayDeque<>(List.of(THREE));
  private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
  private PeersChangeAnswer answer = PeersChangeAnswer.getDefaultInstance();

  private static PeersStatus.Peer.Builder member(String id, long applied) {
    return PeersStatus.Peer.newBuilder()
        .setId(id)
        .setAddress(id + ":9002")
        .setAnswers(true)
        .setStanding("MEMBER")
        .setApplied(applied);
  }

  private static PeersChangeStatus change(long number, State state, String why) {
    return PeersChangeStatus.newBuilder()
        .setNumber(number)
        .setState(state)
        .setWhat("replacing m3")
        .setWhy(why)
        .build();
  }

  /** Tells one status after the other, the last one for ever. */
  private final class Group implements MetadataPeers {
    @Override
    public PeersStatus peers() {
      return statuses.size() > 1 ? statuses.remove() : statuses.element();
    }

    @Override
    public PeersChangeAnswer changePeers(String add, String remove) {
      asked.add("+" + add + " -" + remove);
      return answer;
    }
  }

  private final MetadataAdmin admin = new MetadataAdmin(new Group());

  private void run(String path) throws Exception {
    ObjectMapper json = new ObjectMapper();
    try (PrintStream out = new PrintStream(shown, true, StandardCharsets.UTF_8)) {
      new MetadataChange(
              (method, asked) -> {
                try {
                  return json.writeValueAsString(
                      method.equals("GET") ? admin.page() : changed(asked));
                } catch (Exception e) {
                  throw new IOException(e.getMessage(), e);
                }
              },
              out,
              false)
          .run(path);
    }
  }

  private String text() throws Exception {
    return String.join("\n", PageText.of("metadata", new Rates()).apply(tree()));
  }

  private JsonNode tree() throws Exception {
    return new ObjectMapper().valueToTree(admin.page());
  }

  private Object changed(String path) throws Exception {
    String[] parts = path.split("[?&=]", -1);
    return switch (parts[0]) {
      case "metadata-add" -> admin.change(parts[2], "");
      case "metadata-remove" -> admin.change("", parts[2]);
      case "metadata-replace" -> admin.change(parts[4], parts[2]);
      default -> throw new AssertionError(path);
    };
  }

  private String shown() {
    return shown.toString(StandardCharsets.UTF_8);
  }

  @Test
  void thePageTellsHowEachIsAndWhatMayBeLost() throws Exception {
    MetadataAdmin.Page page = admin.page();
    assertEquals(0, page.tolerates());
    assertNull(page.change());
    assertEquals(3L, page.peers().get(1).lag());
    assertNull(page.peers().get(2).lag());
    statuses.clear();
    statuses.add(THREE.toBuilder().setPeers(2, member("m3", 100)).build());
    assertEquals(1, admin.page().tolerates());
    assertTrue(text().contains("Peers that may be lost: 1"), text());
  }

  @Test
  void peersThatHaveStoppedOrCannotReadTheirTablesAreShownAndCounted() throws Exception {
    statuses.clear();
    PeersStatus all = THREE.toBuilder().setPeers(2, member("m3", 100)).build();
    statuses.add(with(all, Condition.STOPPED));
    assertEquals(0, admin.page().tolerates());
    statuses.clear();
    statuses.add(with(all, Condition.DAMAGED)); // it votes
    assertEquals(1, admin.page().tolerates());
    assertTrue(text().contains("damaged"), text());
    statuses.clear();
    PeersStatus.Peer.Builder damaged = member("m2", 100).setCondition(Condition.DAMAGED);
    statuses.add(with(all, Condition.DAMAGED).toBuilder().setPeers(1, damaged).build());
    assertEquals(0, admin.page().tolerates(), "only one can read its tables");
  }

  private static PeersStatus with(PeersStatus all, Condition condition) {
    return all.toBuilder().setPeers(2, member("m3", 100).setCondition(condition)).build();
  }

  @Test
  void aCommandReturnsWhenTheChangeIsDone() throws Exception {
    answer = PeersChangeAnswer.newBuilder().setChange(change(4, State.RUNNING, "")).build();
    statuses.clear();
    statuses.add(THREE.toBuilder().setChange(change(4, State.RUNNING, "")).build());
    statuses.add(THREE.toBuilder().setChange(change(4, State.DONE, "")).build());
    run("metadata-replace?target=m3&by=m-4");
    assertEquals(List.of("+m-4 -m3"), asked);
    assertTrue(shown().contains("replacing m3, done"), shown());
  }

  @Test
  void oneThatFailsOrIsForgottenIsAFailure() throws Exception {
    answer = PeersChangeAnswer.newBuilder().setChange(change(4, State.RUNNING, "")).build();
    statuses.clear();
    statuses.add(THREE.toBuilder().setChange(change(4, State.FAILED, "it is gone")).build());
    assertEquals("it is gone", message("metadata-remove?target=m3"));
    statuses.clear();
    statuses.add(THREE);
    assertTrue(message("metadata-remove?target=m3").contains("leader has changed"));
  }

  private String message(String path) {
    IOException failed = assertThrows(IOException.class, () -> run(path));
    return Objects.requireNonNull(failed.getMessage());
  }

  @Test
  void whatIsRefusedIsSaid() {
    answer = PeersChangeAnswer.newBuilder().setRefusal("no majority").build();
    assertEquals("no majority", message("metadata-add?target=m-4"));
    assertThrows(Admin.RefusedException.class, () -> new MetadataAdmin(null).page());
  }
}
