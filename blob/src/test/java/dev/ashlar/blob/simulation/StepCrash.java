package dev.ashlar.blob.simulation;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.blob.engine.ReadBytes;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SlotMove;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.SteppedDrive;
import dev.ashlar.storage.io.SimulatedDrive.PowerLoss;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Something is done to a few objects, such as moving a slot to another drive, and at one step of it
 * the process that does it ends. The next one does what is left, after which nothing may be missing
 * and nothing left over. The seed decides all else, so that the steps before the end are always the
 * same.
 */
final class StepCrash implements SimulatedProcess.Surroundings {
  private static final Profile PROFILE = Profile.parse("2+1", 4096);
  private static final int DRIVES = 4;
  private static final int SLOT = 1;
  private static final int PG = 0;

  /** Of the slot at first, and of it afterwards. */
  private static final int OLD = 1;

  private static final int NEW = 3;

  /** A profile that some actions add. */
  private static final String OTHER = "OTHER";

  private static final int STEPS_MAX = 100_000;

  /** What is done. */
  enum Action {
    /** A slot gets another drive, and what it has is moved. */
    MOVE,
    /** An object gets more bytes. */
    APPEND,
    /** A change is made a part of its shards. */
    FOLD,
    /** What a drive had that was replaced by an empty one is made anew. */
    REPAIR,
    /** All objects get blobs of another profile. */
    RE_ENCODE
  }

  /** What ends with the process. */
  enum End {
    /** Nothing: the drives are other processes', and finish what they have. */
    MOVER,
    /** The drives' processes, too. */
    ALL,
    /** And what they had not synced. */
    POWER
  }

  /** By simulations that failed. */
  private final long lentBefore = SimulatedProcess.POOL.lentBytes();

  private final Action action;
  private final End end;
  private final Random random;
  private final SteppedThreads threads;
  private final ManualClock clock = new ManualClock(1000);
  private final MemoryTable table = new MemoryTable();
  private final BytesModel model = new BytesModel();
  private final List<UUID> ids = MemoryMetadata.sequentialIds(DRIVES);
  private final Map<UUID, SteppedDrive.Medium> media = new LinkedHashMap<>();
  private final Map<UUID, SteppedDrive> drives = new LinkedHashMap<>();
  private MemoryMetadata metadata = new MemoryMetadata(table, clock);
  private SimulatedProcess process;
  private @Nullable UUID hidden;
  private long stepsLeft = Long.MAX_VALUE;
  private @Nullable String endedAt;

  StepCrash(long seed, Action action, End end) throws IOException {
    this.action = action;
    this.end = end;
    random = new Random(seed);
    threads = new SteppedThreads(random);
    for (UUID id : ids) {
      SteppedDrive.Medium medium = new SteppedDrive.Medium(id, random);
      media.put(id, medium);
      open(medium);
    }
    metadata.require(Command.newBuilder().setPutDrives(MemoryMetadata.drives(PROFILE, ids, 1)));
    metadata.require(TestBlobs.createBucket(SimulatedClient.BUCKET));
    process = newProcess();
  }

  private void open(SteppedDrive.Medium medium) throws IOException {
    drives.put(
        medium.id(),
        SteppedDrive.open(
            medium, new SteppedDrive.Parts(SimulatedProcess.POOL, SimulatedProcess.CODES::of)));
  }

  private SimulatedProcess newProcess() {
    return new SimulatedProcess(SimulatedProcess.config(PROFILE, 3), metadata, clock, this);
  }

  /**
   * @param step at which the process ends, from 1 on
   * @return what that was; null if the action has fewer steps
   */
  @Nullable String run(int step) throws Exception {
    inThread("put", this::putObjects);
    if (action == Action.REPAIR) {
      replaceOld();
    }
    if (action == Action.RE_ENCODE) {
      metadata.require(TestProfiles.add(metadata, OTHER, Profile.parse("1+2", 4096), 2));
    }
    stepsLeft = step;
    threads.start("action", this::actUntilItEnds);
    runAll();
    stepsLeft = Long.MAX_VALUE;
    if (endedAt != null) {
      restart();
    }
    inThread("read", this::checkAllReads);
    inThread("tidy", this::tidy);
    inThread("check", this::check);
    process.die();
    assertEquals(lentBefore, SimulatedProcess.POOL.lentBytes());
    return endedAt;
  }

  private void inThread(String name, SteppedThreads.Body body) {
    threads.start(name, body);
    runAll();
  }

  /** One of a strip, one of several windows, and one with a change that is not folded. */
  private void putObjects() throws Exception {
    int stripe = PROFILE.stripeBytes();
    int[] lengths = {3000, 7 * stripe + 500, stripe + 100};
    for (int i = 0; i < lengths.length; i++) {
      String key = SimulatedClient.keys().get(i);
      byte[] bytes = EngineFixture.bytes(random, lengths[i]);
      PutObject.Builder put =
          PutObject.newBuilder()
              .setBucket(SimulatedClient.BUCKET)
              .setKey(key)
              .setSummary(ObjectSummary.newBuilder().setSize(bytes.length).setEtag("e"));
      try (ObjectWriter writer = process.store.newWriter(bytes.length)) {
        writer.write(ByteBuffer.wrap(bytes));
        require(
            writer
                .commit(blobs -> Command.newBuilder().setPutObject(put.clone().addAllBlobs(blobs)))
                .getCode());
      }
      model.put(key, bytes, true);
    }
    String changed = SimulatedClient.keys().getLast();
    byte[] bytes = EngineFixture.bytes(random, 5000);
    int offset = stripe - 2000;
    try (ObjectChange change = process.store.newChange(object(changed), offset, bytes.length)) {
      change.write(ByteBuffer.wrap(bytes));
      require(
          change
              .commit(ModifyObject.newBuilder().setBucket(SimulatedClient.BUCKET).setKey(changed))
              .getCode());
    }
    model.change(changed, offset, bytes, false);
  }

  private static void require(ResultCode code) {
    assertEquals(ResultCode.OK, code);
  }

  private ObjectRead object(String key) throws MetadataUnavailableException {
    return process.client.object(SimulatedClient.BUCKET, key).orElseThrow();
  }

  private void replaceOld() throws IOException {
    SteppedDrive.Medium medium = requireNonNull(media.get(ids.get(OLD)));
    requireNonNull(drives.get(medium.id())).die();
    medium.replace();
    open(medium);
    SimulatedDrives.register(metadata, drives.values());
  }

  private void actUntilItEnds() throws Exception {
    try {
      switch (action) {
        case MOVE -> {
          move(process.client);
          process.repairAll();
        }
        case APPEND -> append();
        case FOLD -> process.foldAll();
        case REPAIR -> process.repairAll();
        case RE_ENCODE -> reencode();
      }
    } catch (DataUnavailableException e) {
      if (!process.isDead()) {
        throw e;
      }
    } catch (MetadataUnavailableException e) {
      if (!process.isDead()) {
        throw e;
      }
    }
  }

  private void reencode() throws Exception {
    for (String key : SimulatedClient.keys()) {
      process.move(key, OTHER);
    }
  }

  private void append() throws Exception {
    String key = SimulatedClient.keys().getFirst();
    ObjectRead object = object(key);
    int size = (int) object.object().getSummary().getSize();
    byte[] bytes = EngineFixture.bytes(random, 2 * PROFILE.stripeBytes() + 700);
    process.begin(new SimulatedProcess.Request(to -> to.change(key, size, bytes, true)));
    try (ObjectChange change = process.store.newChange(object, size, bytes.length)) {
      change.write(ByteBuffer.wrap(bytes));
      change.commit(
          ModifyObject.newBuilder().setBucket(SimulatedClient.BUCKET).setKey(key).setAppend(true));
    } finally {
      process.end();
    }
  }

  /** The slot gets its new drive, if it has not got it yet. */
  private void move(MetadataClient client) throws MetadataUnavailableException {
    UUID by = ids.get(NEW);
    if (client.placement().drive(PG, SLOT).equals(by)) {
      return;
    }
    MoveSlots.Builder move =
        MoveSlots.newBuilder()
            .setBaseEpoch(client.placement().epoch())
            .addMoves(
                SlotMove.newBuilder()
                    .setPg(PG)
                    .setSlot(SLOT)
                    .setDriveHigh(by.getMostSignificantBits())
                    .setDriveLow(by.getLeastSignificantBits()));
    require(client.submit(Command.newBuilder().setMoveSlots(move)).getCode());
  }

  private void runAll() {
    for (int steps = 0; hasWork(); steps++) {
      if (steps == STEPS_MAX) {
        throw new AssertionError("goes on and on" + threads.describe());
      }
      step();
    }
  }

  private boolean hasWork() {
    return threads.areAlive() || drives.values().stream().anyMatch(SteppedDrive::hasWork);
  }

  private void step() {
    List<SteppedDrive> busy = drives.values().stream().filter(SteppedDrive::hasWork).toList();
    int ready = threads.runnable();
    if (ready + busy.size() == 0) {
      throw new AssertionError("everybody waits" + threads.describe());
    }
    int next = random.nextInt(ready + busy.size());
    if (next < ready) {
      threads.step();
    } else {
      step(busy.get(next - ready));
    }
    clock.advanceMs(1);
  }

  private void step(SteppedDrive drive) {
    String what = drive.drive().id().equals(ids.get(OLD)) ? "removes" : "writes";
    long before = drive.medium().disk().calls();
    drive.medium().disk().crashAtCall(end == End.MOVER ? Long.MAX_VALUE : stepsLeft);
    try {
      drive.step();
    } catch (PowerLoss e) {
      ends("a drive " + what);
      return;
    }
    for (long calls = drive.medium().disk().calls() - before; calls > 0; calls--) {
      count("a drive " + what);
    }
  }

  /** One more step of the move, at which it may end. */
  private void count(String what) {
    if (stepsLeft != Long.MAX_VALUE && --stepsLeft == 0) {
      ends(what);
    }
  }

  private void ends(String at) {
    endedAt = at;
    stepsLeft = Long.MAX_VALUE;
    process.die();
    if (end != End.MOVER) {
      drives.values().forEach(SteppedDrive::die);
    }
  }

  /** Another process, and with it the drives if they ended too. */
  private void restart() throws IOException {
    if (end != End.MOVER) {
      for (SteppedDrive.Medium medium : media.values()) {
        if (end == End.POWER) {
          medium.afterPowerLoss();
        } else {
          medium.afterKill();
        }
        open(medium);
      }
    }
    metadata = new MemoryMetadata(table, clock);
    SimulatedDrives.register(metadata, drives.values());
    process = newProcess();
  }

  private void checkAllReads() throws Exception {
    for (String key : SimulatedClient.keys()) {
      byte[] expected = requireNonNull(model.state(key).bytes());
      ReadBytes read = new ReadBytes();
      process.store.read(object(key), new ByteRange(0, expected.length), read);
      assertArrayEquals(expected, read.bytes(), key);
    }
  }

  /** What the next process does, without being told how far the last one was. */
  private void tidy() throws Exception {
    process.collector.sweepDeadSessions(drives.values());
    if (action == Action.MOVE) {
      move(process.client);
    }
    if (action == Action.RE_ENCODE) {
      reencode();
    }
    process.repairAll();
    process.foldAll();
    process.cleaner.retry();
    process.collectAll(() -> clock.advanceMs(10_000));
  }

  private void check() throws Exception {
    assertEquals(List.of(), process.client.registry().getLoadsList(), "what is still to be moved");
    if (action != Action.REPAIR) {
      assertEquals(
          0, process.repairs("rebuilt.shards"), "nothing was lost, so nothing is made anew");
    }
    if (action == Action.MOVE) {
      assertEquals(ids.get(NEW), process.client.placement().drive(PG, SLOT));
      assertEquals(List.of(), new ArrayList<>(requireNonNull(drives.get(ids.get(OLD))).shards()));
    }
    if (action == Action.RE_ENCODE) {
      for (String key : SimulatedClient.keys()) {
        ObjectRead object = object(key);
        assertEquals(OTHER, object.object().getSummary().getStorageClass());
        object.blobs().forEach(row -> assertEquals(1, BlobId.of(row.getId()).profile()));
      }
    }
    RestCheck.Losses none =
        new RestCheck.Losses() {
          @Override
          public @Nullable UUID drive() {
            return null;
          }

          @Override
          public boolean mayLack(BlobId blob) {
            return false;
          }
        };
    new RestCheck<>(
            process, model, PROFILE, drives, SteppedDrive::shards, none, away -> hidden = away)
        .run();
  }

  @Override
  public @Nullable ShardStore drive(UUID id) {
    SteppedDrive drive = id.equals(hidden) ? null : drives.get(id);
    SimulatedProcess asking = process;
    return drive == null ? null : new OfLiving(drive, asking);
  }

  @Override
  public SimulatedProcess.Fate fate(Command.Builder command) {
    count("before " + command.getKindCase());
    return SimulatedProcess.Fate.ANSWERED;
  }

  @Override
  public void committed(Command.Builder command) {
    count("after " + command.getKindCase());
  }

  @Override
  public BytesModel model() {
    return model;
  }

  @Override
  public Duration grace() {
    return SimulatedProcess.GRACE;
  }

  @Override
  public SteppedThreads threads() {
    return threads;
  }

  @Override
  public Random random() {
    return random;
  }
}
