package dev.ashlar.metadata.state.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.state.MetadataState;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.NodeHeartbeat;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.RegisterNode;
import dev.ashlar.protocol.message.RegisterSession;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.NodeLiveness;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class NodesTest {
  private final MemoryTable table = new MemoryTable();
  private MetadataState state = new MetadataState(table);
  private final long first = register();
  private final long second = register();
  private long requests;
  private long nowMs = 1_000;

  private long register() {
    return apply(
            Command.newBuilder().setRegisterSession(RegisterSession.getDefaultInstance()).build())
        .getSession();
  }

  private CommandResult apply(Command command) {
    return state
        .apply(1, state.applied().getIndex() + 1, MemoryMetadata.entry(command))
        .results()
        .getFirst();
  }

  private ResultCode submit(long session, Command.Builder command) {
    return apply(command.setSession(session).setRequest(++requests).setTimeMs(nowMs).build())
        .getCode();
  }

  private static DriveRow drive(long id, long incarnation) {
    return DriveRow.newBuilder()
        .setDriveLow(id)
        .setIncarnation(incarnation)
        .setCapacityBytes(1L << 40)
        .build();
  }

  private ResultCode storage(long session, String name, String host, DriveRow... drives) {
    NodeRow node = NodeRow.newBuilder().setName(name).setHost(host).setPort(7000).build();
    return submit(
        session,
        Command.newBuilder()
            .setRegisterNode(
                RegisterNode.newBuilder().setNode(node).addAllDrives(List.of(drives))));
  }

  private ResultCode gateway(long session, String name) {
    NodeRow node = NodeRow.newBuilder().setName(name).setGateway(true).build();
    return submit(
        session, Command.newBuilder().setRegisterNode(RegisterNode.newBuilder().setNode(node)));
  }

  private ResultCode keep(long session, String name, long oldestReadMs) {
    return submit(
        session,
        Command.newBuilder()
            .setNodeHeartbeat(
                NodeHeartbeat.newBuilder().setName(name).setOldestReadMs(oldestReadMs)));
  }

  /** Time goes by, in which this node of the session is heard. */
  private void pass(long ms, long session, String name) {
    for (long left = ms; left > 0; left -= NodeLiveness.HEARTBEAT_MS) {
      nowMs += Math.min(left, NodeLiveness.HEARTBEAT_MS);
      assertEquals(ResultCode.OK, keep(session, name, 0));
    }
  }

  private Registry registry() {
    return Nodes.registry(table, state.reads().placement().orElse(null));
  }

  @Test
  void aNodeAndItsDrivesAreKnownAlsoAfterARestart() {
    assertEquals(ResultCode.OK, storage(first, "s-1", "host-1", drive(1, 1), drive(2, 3)));
    state = new MetadataState(table);
    Registry registry = registry();
    NodeRow node = registry.getNodes(0);
    assertEquals(List.of("s-1", "host-1"), List.of(node.getName(), node.getHost()));
    assertEquals(first, node.getSession());
    assertEquals(nowMs, node.getHeartbeatMs());
    assertEquals(nowMs, registry.getLogTimeMs());
    assertEquals(0, registry.getEpoch());
    assertEquals(
        List.of("s-1", "s-1"), registry.getDrivesList().stream().map(DriveRow::getNode).toList());
    assertEquals(new DriveId(new UUID(0, 2), 3), state.reads().drives().get(new UUID(0, 2)));
  }

  /** Beside those of the first release in golden/rows-v1.txt. */
  @Test
  void itsRowStaysAsItIs() {
    HexFormat hex = HexFormat.of();
    NodeRow node =
        NodeRow.newBuilder()
            .setName("s-1")
            .setSession(5)
            .setHost("h")
            .setPort(7000)
            .setRack("r")
            .setZone("z")
            .setGateway(true)
            .setHeartbeatMs(1000)
            .setOldestReadMs(7)
            .build();
    assertEquals("4e732d31", hex.formatHex(Keys.node("s-1")));
    assertEquals(
        "0a03732d311105000000000000001a016820d8362a017232017a380140e8074807",
        hex.formatHex(node.toByteArray()));
  }

  @Test
  void aNodeIsUpWhileItSaysSo() {
    storage(first, "s-1", "host-1", drive(1, 1));
    nowMs += NodeLiveness.DOWN_MS + 1;
    assertEquals(ResultCode.OK, gateway(second, "g-1"));
    assertFalse(isUp("s-1"));
    assertTrue(isUp("g-1"));
    assertEquals(ResultCode.OK, keep(first, "s-1", 0));
    assertTrue(isUp("s-1"));
    assertEquals(ResultCode.OK, keep(second, "g-1", 777));
    assertEquals(777, node("g-1").getOldestReadMs());
  }

  private NodeRow node(String name) {
    return registry().getNodesList().stream()
        .filter(node -> node.getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private boolean isUp(String name) {
    return NodeLiveness.isUp(node(name), registry().getLogTimeMs());
  }

  @Test
  void aSecondProcessIsThisNodeOnlyWhereOrWhenTheFirstIsNot() {
    storage(first, "s-1", "host-1", drive(1, 1));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, storage(second, "s-1", "host-2", drive(1, 1)));
    assertEquals(ResultCode.OK, storage(second, "s-1", "host-1", drive(1, 1)));
    assertEquals(ResultCode.STALE_REQUEST, keep(first, "s-1", 0), "its session has ended");
    long other = register();
    assertEquals(ResultCode.OK, gateway(other, "g-1"));
    pass(NodeLiveness.DOWN_MS + 1, other, "g-1");
    long third = register();
    assertEquals(ResultCode.OK, storage(third, "s-1", "host-2", drive(1, 1)));
    assertEquals(ResultCode.STALE_REQUEST, keep(second, "s-1", 0));
    assertEquals(List.of(other, third), registry().getSessionsList());
  }

  /** A session ends with its node, and no other does. */
  @Test
  void theSessionOfAGatewayThatIsForgottenEnds() {
    gateway(first, "g-1");
    gateway(second, "g-2");
    assertEquals(List.of(first, second), registry().getSessionsList());
    pass(NodeLiveness.FORGOTTEN_MS, second, "g-2");
    assertEquals(List.of(first, second), registry().getSessionsList(), "not yet");
    pass(1, second, "g-2");
    assertEquals(List.of(second), registry().getSessionsList());
    assertEquals(ResultCode.STALE_REQUEST, keep(first, "g-1", 0));
    state = new MetadataState(table);
    assertEquals(List.of(second), registry().getSessionsList());
  }

  /** Its process ended too soon, or asked for a session twice because the first answer was lost. */
  @Test
  void aSessionThatNeverBecameANodeEndsAfterAnHour() {
    gateway(second, "g-2");
    pass(NodeLiveness.FORGOTTEN_MS, second, "g-2");
    long third = register();
    pass(NodeLiveness.DOWN_MS, second, "g-2");
    assertEquals(List.of(second, third), registry().getSessionsList());
    assertEquals(ResultCode.STALE_REQUEST, gateway(first, "g-1"));
    state = new MetadataState(table);
    pass(NodeLiveness.FORGOTTEN_MS - NodeLiveness.DOWN_MS, second, "g-2");
    assertEquals(List.of(second, third), registry().getSessionsList(), "not yet");
    pass(1, second, "g-2");
    assertEquals(List.of(second), registry().getSessionsList());
  }

  /** As in a process that is the whole store. */
  @Test
  void sessionsLiveWhereThereAreNoNodes() {
    CreateBucket bucket = CreateBucket.newBuilder().setName("b").setOwner("me").build();
    nowMs += 3 * NodeLiveness.FORGOTTEN_MS;
    submit(second, Command.newBuilder().setCreateBucket(bucket));
    nowMs += NodeLiveness.HEARTBEAT_MS;
    submit(second, Command.newBuilder().setCreateBucket(bucket));
    assertEquals(List.of(first, second), registry().getSessionsList());
  }

  /** There was no metadata, or the clock of its leader was set: of that nobody is silent. */
  @Test
  void timeInWhichNobodyWasHeardIsNobodysSilence() {
    storage(first, "s-1", "host-1", drive(1, 1));
    gateway(second, "g-1");
    long third = register();
    gateway(third, "g-2");
    nowMs += 10 * NodeLiveness.FORGOTTEN_MS;
    assertEquals(ResultCode.OK, keep(second, "g-1", 0));
    assertEquals(List.of(first, second, third), registry().getSessionsList());
    assertEquals(ResultCode.OK, keep(third, "g-2", 0), "it may speak again");
    long fourth = register();
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, storage(fourth, "s-1", "host-2", drive(1, 1)));
    pass(NodeLiveness.FORGOTTEN_MS, second, "g-1");
    assertEquals(List.of(first, second, third, fourth), registry().getSessionsList());
    pass(1, second, "g-1");
    assertEquals(List.of(first, second), registry().getSessionsList(), "now it was long");
    long fifth = register();
    assertEquals(ResultCode.OK, storage(fifth, "s-1", "host-2", drive(1, 1)));
  }

  @Test
  void logTimeIsOfTheClockWithoutJumps() {
    gateway(first, "g-1");
    long beforeMs = registry().getLogTimeMs();
    Command keep =
        Command.newBuilder()
            .setNodeHeartbeat(NodeHeartbeat.newBuilder().setName("g-1"))
            .setSession(first)
            .setRequest(++requests)
            .setTimeMs(nowMs + 10 * NodeLiveness.FORGOTTEN_MS)
            .setSteadyMs(nowMs + 5)
            .build();
    assertEquals(ResultCode.OK, apply(keep).getCode());
    assertEquals(beforeMs + 5, registry().getLogTimeMs());
    assertEquals(beforeMs + 5, node("g-1").getHeartbeatMs());
  }

  /** It was carried out before the session ended: who sent it must not take it for refused. */
  @Test
  void aRequestOfAnEndedSessionKeepsItsAnswer() {
    gateway(first, "g-1");
    Command register =
        Command.newBuilder()
            .setRegisterNode(
                RegisterNode.newBuilder()
                    .setNode(NodeRow.newBuilder().setName("g-1").setGateway(true)))
            .setSession(first)
            .setRequest(++requests)
            .setTimeMs(nowMs)
            .build();
    assertEquals(ResultCode.OK, apply(register).getCode());
    gateway(second, "g-1");
    assertEquals(List.of(second), registry().getSessionsList());
    assertEquals(ResultCode.OK, apply(register).getCode());
    assertEquals(second, node("g-1").getSession(), "it was not carried out again");
  }

  @Test
  void driveStaysWithItsNodeAndItsIncarnationNeverDecreases() {
    storage(first, "s-1", "host-1", drive(1, 2));
    assertEquals(ResultCode.INVALID_COMMAND, storage(first, "s-1", "host-1", drive(1, 1)));
    assertEquals(ResultCode.INVALID_COMMAND, storage(second, "s-2", "host-2", drive(1, 2)));
    assertEquals(1, registry().getNodesCount());
    assertEquals(ResultCode.OK, storage(first, "s-1", "host-1", drive(1, 3)));
  }

  @Test
  void aNodeHasAnAddressWhereItHasDrives() {
    assertEquals(ResultCode.INVALID_COMMAND, storage(first, "s-1", "host-1"));
    assertEquals(ResultCode.INVALID_COMMAND, storage(first, "", "host-1", drive(1, 1)));
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, keep(first, "s-1", 0));
  }

  @Test
  void gatewaysThatAreGoneAreForgottenAndStorageNodesAreNot() {
    storage(first, "s-1", "host-1", drive(1, 1));
    gateway(second, "g-1");
    gateway(second, "g-2");
    pass(NodeLiveness.FORGOTTEN_MS + 1, second, "g-2");
    assertEquals(
        List.of("g-2", "s-1"), registry().getNodesList().stream().map(NodeRow::getName).toList());
  }
}
