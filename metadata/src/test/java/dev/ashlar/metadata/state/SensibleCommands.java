package dev.ashlar.metadata.state;

import com.google.protobuf.ByteString;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.blob.Repairs;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.layout.FrameLayout;
import dev.ashlar.protocol.message.AbortUpload;
import dev.ashlar.protocol.message.BeginEncryption;
import dev.ashlar.protocol.message.BeginMove;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CompletePart;
import dev.ashlar.protocol.message.CompleteUpload;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.CopyPart;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.EndSessions;
import dev.ashlar.protocol.message.ForgetBlobs;
import dev.ashlar.protocol.message.LostShard;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.MoveObject;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.NodeHeartbeat;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PutCredential;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.PutPart;
import dev.ashlar.protocol.message.RecallDrives;
import dev.ashlar.protocol.message.RecalledDrive;
import dev.ashlar.protocol.message.RecordDebts;
import dev.ashlar.protocol.message.RecordLostShards;
import dev.ashlar.protocol.message.RegisterNode;
import dev.ashlar.protocol.message.RegisterSession;
import dev.ashlar.protocol.message.RepairBlob;
import dev.ashlar.protocol.message.RepairedShard;
import dev.ashlar.protocol.message.SaveMove;
import dev.ashlar.protocol.message.SetBalance;
import dev.ashlar.protocol.message.SettleDrive;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.message.SlotMove;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Commands of every kind as processes send them, for the metadata as it is at that moment. */
final class SensibleCommands {
  /** When all of them are sent, so that a run depends on nothing but its seed. */
  static final Instant NOW = Instant.parse("2100-01-01T00:00:00Z");

  /** The metadata version in use, so that it has commands of every kind. */
  static final int VERSION = MetadataVersion.KNOWN;

  private static final Clock CLOCK = Clock.fixed(NOW, ZoneOffset.UTC);
  private static final String EMPTY_BUCKET = "k5";
  private static final int KEYS = 6;
  private static final int DRIVES = 6;
  private static final int KINDS = 32;
  private static final int LARGEST_BLOB = 100_000;
  private static final ByteString WRAPPED_KEY = ByteString.copyFromUtf8("wrapped");

  private final Random random;
  private final SensibleVersionCommands versions;
  private final SensibleIdentities identities;
  private MemoryMetadata metadata =
      MemoryMetadata.withDrives(VERSION, new Profile(2, 1, 16384), DRIVES, 4);
  private long sequence;

  SensibleCommands(Random random) {
    this.random = random;
    versions = new SensibleVersionCommands(random);
    identities = new SensibleIdentities(random);
    metadata.require(TestBlobs.createBucket("k0"));
    restart();
  }

  MemoryMetadata metadata() {
    return metadata;
  }

  /** Another process, with its own session, goes on. */
  MemoryMetadata restart() {
    metadata = new MemoryMetadata(metadata.table(), CLOCK, VERSION);
    return metadata;
  }

  private String name() {
    return "k" + random.nextInt(KEYS);
  }

  private String bucket() {
    return "k" + random.nextInt(2);
  }

  Command.Builder next() throws Exception {
    Command.Builder command = Command.newBuilder();
    return switch (random.nextInt(KINDS)) {
      case 0 -> TestBlobs.createBucket(random.nextBoolean() ? bucket() : EMPTY_BUCKET);
      case 1 -> command.setDeleteBucket(DeleteBucket.newBuilder().setName(EMPTY_BUCKET));
      case 2, 3 -> TestBlobs.put(bucket(), name(), blob());
      case 4 ->
          random.nextInt(4) == 0
              ? command.setBeginEncryption(BeginEncryption.getDefaultInstance())
              : encrypted();
      case 5 -> TestBlobs.delete(bucket(), name());
      case 6 -> command.setCopyObject(copy());
      case 7, 8, 9 -> modify(command);
      case 10 -> fold(command);
      case 11 -> command.setCreateUpload(CreateUpload.newBuilder().setUpload(upload()));
      case 12, 13 -> command.setPutPart(part());
      case 14 -> command.setCopyPart(copyPart());
      case 15, 16 -> finishUpload(command);
      case 17 -> forget(command);
      case 18 -> command.setPutCredential(credential());
      case 19 -> random.nextBoolean() ? command.setPutDrives(replacement()) : settle(command);
      case 20 -> command.setMoveSlots(move());
      case 21 -> random.nextBoolean() ? recall(command) : command.setSetBalance(balance());
      case 22 -> register(command);
      case 23 -> owe(command);
      case 24 -> repair(command);
      case 25, 26 -> versions.next(name(), name(), version());
      case 27, 28 -> identities.next(metadata);
      case 29 -> profile();
      case 30 -> moved(command);
      default -> ofSessions(command);
    };
  }

  private NewBlob.Builder blob() {
    return blob(1 + random.nextInt(LARGEST_BLOB));
  }

  private Command.Builder encrypted() {
    EncryptedRun run = run();
    NewBlob.Builder blob = blob(FrameLayout.storedSize(run.getSize()));
    Command.Builder put = TestBlobs.put(bucket(), name(), blob);
    put.getPutObjectBuilder()
        .setFacts(ObjectFacts.newBuilder().setWrappedKey(WRAPPED_KEY).addRuns(run))
        .getSummaryBuilder()
        .setSize(run.getSize());
    return put;
  }

  private EncryptedRun run() {
    return EncryptedRun.newBuilder()
        .setId(ByteString.copyFrom(new byte[EncryptedRuns.ID_BYTES]))
        .setSize(1 + random.nextInt(LARGEST_BLOB))
        .build();
  }

  private NewBlob.Builder blob(long length) {
    List<PlacedProfile> profiles = metadata.placement().present();
    int number = profiles.get(random.nextInt(profiles.size())).number();
    BlobId id = BlobId.of(metadata.session(), number, sequence++);
    return TestBlobs.acknowledged(metadata, id, length);
  }

  private Optional<BlobRow> row() throws Exception {
    return metadata
        .object(bucket(), name())
        .filter(read -> !read.blobs().isEmpty())
        .map(read -> read.blobs().getFirst());
  }

  private CopyObject.Builder copy() throws Exception {
    CopyObject.Builder copy =
        CopyObject.newBuilder()
            .setSourceBucket(bucket())
            .setSourceKey(name())
            .setBucket(bucket())
            .setKey(name());
    metadata
        .object(copy.getSourceBucket(), copy.getSourceKey())
        .ifPresent(source -> copy.setFacts(source.object().getFacts()));
    return copy;
  }

  private Command.Builder modify(Command.Builder command) throws Exception {
    String bucket = bucket();
    String key = name();
    Optional<ObjectRead> read = metadata.object(bucket, key);
    if (read.isEmpty() || read.get().blobs().isEmpty()) {
      return TestBlobs.put(bucket, key, blob());
    }
    BlobRow row = read.get().blobs().getFirst();
    long offset = random.nextBoolean() ? row.getLength() : random.nextLong(row.getLength() + 1);
    long length = 1L + random.nextInt(50_000);
    var piece =
        random.nextInt(3) == 0
            ? TestBlobs.piece(blob())
            : TestBlobs.piece(TestBlobs.change(metadata, row, sequence++, offset, length));
    ObjectRecord object = read.get().object();
    ModifyObject.Builder modify = TestBlobs.modify(bucket, key, offset, List.of(piece));
    if (EncryptedRuns.isEncrypted(
        object)) { // a patch; another one needs as many bytes as there are
      modify.setExpectedVersion(object.getVersion()).setPlainSize(object.getSummary().getSize());
    }
    return command.setModifyObject(modify);
  }

  private Command.Builder fold(Command.Builder command) throws Exception {
    BlobRow row = row().orElse(BlobRow.getDefaultInstance());
    return command.setFoldBlob(TestBlobs.fold(metadata, row, row.getRevision()));
  }

  private UploadRow.Builder upload() {
    String key = name();
    UploadRow.Builder upload = UploadRow.newBuilder().setBucket("k0").setKey(key);
    if (isUploadEncrypted(key)) {
      upload.getFactsBuilder().setWrappedKey(WRAPPED_KEY);
    }
    return upload.setUploadId("k1");
  }

  private static boolean isUploadEncrypted(String key) {
    return key.compareTo("k3") < 0;
  }

  private PutPart.Builder part() {
    String key = name();
    EncryptedRun run = run();
    PartRow.Builder part =
        PartRow.newBuilder().setNumber(1 + random.nextInt(3)).setSize(run.getSize());
    long stored = run.getSize();
    if (isUploadEncrypted(key)) {
      part.setRun(run);
      stored = FrameLayout.storedSize(stored);
    }
    return PutPart.newBuilder()
        .setBucket("k0")
        .setKey(key)
        .setUploadId("k1")
        .setPart(part)
        .addBlobs(blob(stored));
  }

  private CopyPart.Builder copyPart() {
    return CopyPart.newBuilder()
        .setBucket("k0")
        .setKey(name())
        .setUploadId("k1")
        .setPart(PartRow.newBuilder().setNumber(1 + random.nextInt(3)))
        .setSourceBucket(bucket())
        .setSourceKey(name())
        .setSourceLength(random.nextInt(3));
  }

  private Command.Builder finishUpload(Command.Builder command) throws Exception {
    String key = name();
    if (random.nextInt(4) == 0) {
      return command.setAbortUpload(
          AbortUpload.newBuilder().setBucket("k0").setKey(key).setUploadId("k1"));
    }
    CompleteUpload.Builder complete =
        CompleteUpload.newBuilder().setBucket("k0").setKey(key).setUploadId("k1");
    for (PartRow row : metadata.parts("k0", key, "k1", 0, 1)) {
      complete.addParts(
          CompletePart.newBuilder().setNumber(row.getNumber()).setToken(row.getToken()));
    }
    return command.setCompleteUpload(complete);
  }

  private Command.Builder forget(Command.Builder command) throws Exception {
    ForgetBlobs.Builder forget = ForgetBlobs.newBuilder();
    metadata.garbage(Long.MAX_VALUE, null, 5).forEach(row -> forget.addBlobs(row.getId()));
    return command.setForgetBlobs(forget);
  }

  private static PutCredential.Builder credential() {
    return PutCredential.newBuilder()
        .setCredential(CredentialRow.newBuilder().setAccessKey("k1").setSecretKey("s"));
  }

  private DriveId drive() {
    List<DriveId> drives = List.copyOf(metadata.drives().values());
    return drives.get(random.nextInt(drives.size()));
  }

  private PutDrives.Builder replacement() {
    DriveId drive = drive();
    return PutDrives.newBuilder().addDrives(driveRow(drive, drive.incarnation() + 1));
  }

  private static DriveRow.Builder driveRow(DriveId drive, long incarnation) {
    return DriveRow.newBuilder()
        .setDriveHigh(drive.id().getMostSignificantBits())
        .setDriveLow(drive.id().getLeastSignificantBits())
        .setIncarnation(incarnation);
  }

  private Command.Builder settle(Command.Builder command) throws Exception {
    if (random.nextBoolean()) {
      RecordDebts.Builder note = RecordDebts.newBuilder();
      row().ifPresent(row -> note.addBlobs(row.getId()));
      return command.setRecordDebts(note);
    }
    DriveId drive = drive();
    return command.setSettleDrive(
        SettleDrive.newBuilder()
            .setDriveHigh(drive.id().getMostSignificantBits())
            .setDriveLow(drive.id().getLeastSignificantBits())
            .setIncarnation(drive.incarnation())
            .setChangedAt(Long.MAX_VALUE));
  }

  private MoveSlots.Builder move() {
    DriveId drive = drive();
    return MoveSlots.newBuilder()
        .setBaseEpoch(metadata.placement().epoch())
        .addDrives(driveRow(drive(), 0).setStanding(DriveStanding.forNumber(random.nextInt(2))))
        .addMoves(
            SlotMove.newBuilder()
                .setPg(random.nextInt(metadata.placement().slotDrives().size()))
                .setSlot(random.nextInt(3))
                .setDriveHigh(drive.id().getMostSignificantBits())
                .setDriveLow(drive.id().getLeastSignificantBits()));
  }

  private Command.Builder register(Command.Builder command) {
    if (random.nextBoolean()) {
      return command.setNodeHeartbeat(NodeHeartbeat.newBuilder().setName("k1").setOldestReadMs(5));
    }
    DriveId drive = drive();
    boolean isGateway = random.nextBoolean();
    RegisterNode.Builder register =
        RegisterNode.newBuilder()
            .setNode(
                NodeRow.newBuilder()
                    .setName(isGateway ? "k1" : "k2")
                    .setHost("h")
                    .setGateway(isGateway)
                    .setKnowsProfiles(random.nextInt(4) > 0)
                    .setKnowsEncryption(random.nextInt(8) > 0)
                    .setPort(isGateway ? 0 : 7000));
    if (!isGateway) {
      register.addDrives(
          driveRow(drive, drive.incarnation()).setNode("k2").setVacant(random.nextInt(4) == 0));
    }
    return command.setRegisterNode(register);
  }

  private Command.Builder profile() {
    int number = 1 + random.nextInt(metadata.placement().profiles().size());
    int parity = 1 + random.nextInt(2);
    Profile profile = new Profile(3 - parity, parity, 4096); // of as many shards as the first one
    return switch (random.nextInt(4)) {
      case 0 -> TestProfiles.remove(metadata, number);
      case 1 -> TestProfiles.setDefault(metadata, number);
      case 2 -> TestProfiles.setDefault(metadata, 0);
      default ->
          TestProfiles.add(metadata, "P" + random.nextInt(3), profile, 1 + random.nextInt(3));
    };
  }

  /** A version or a job. */
  private Command.Builder moved(Command.Builder command) throws Exception {
    List<MoveJobRow> jobs = metadata.moveJobs();
    int choice = random.nextInt(4);
    if (choice == 0 || (choice == 1 && jobs.isEmpty())) {
      return command.setBeginMove(BeginMove.newBuilder().setBucket(bucket()).setPrefix("k"));
    }
    if (choice == 1) {
      MoveJobRow job = jobs.get(random.nextInt(jobs.size()));
      int state = random.nextInt(MoveJobRow.State.STOPPED.getNumber() + 1);
      return command.setSaveMove(
          SaveMove.newBuilder().setJob(job.toBuilder().setKey(name()).setStateValue(state)));
    }
    String bucket = bucket();
    String key = name();
    MoveObject.Builder move = MoveObject.newBuilder().setBucket(bucket).setKey(key);
    Optional<ObjectRead> read = metadata.object(bucket, key);
    if (read.isPresent()) {
      ObjectRecord object = read.get().object();
      move.setVersion(object.getVersion()).setMoved(object.getMoved());
      if (object.getSlicesCount() > 0) {
        move.addBlobs(blob(object.getSlices(0).getLength()));
      }
    }
    return command.setMoveObject(random.nextBoolean() ? move.setStorageClass("") : move);
  }

  private SetBalance balance() {
    return SetBalance.newBuilder().setPaused(random.nextBoolean()).build();
  }

  /** Of drives that are not there; and now and then of one that is. */
  private Command.Builder recall(Command.Builder command) throws Exception {
    RecallDrives.Builder recall = RecallDrives.newBuilder();
    for (DriveRow row : metadata.registry().getDrivesList()) {
      if (row.getAbsent() || random.nextInt(8) == 0) {
        recall.addDrives(
            RecalledDrive.newBuilder()
                .setDriveHigh(row.getDriveHigh())
                .setDriveLow(row.getDriveLow())
                .setIncarnation(row.getIncarnation())
                .setAbsentAt(row.getAbsentAt()));
      }
    }
    return command.setRecallDrives(recall);
  }

  private Command.Builder owe(Command.Builder command) throws Exception {
    BlobRow row = row().orElse(BlobRow.getDefaultInstance());
    SlotAck ack = ack(row);
    return command.setRecordLostShards(
        RecordLostShards.newBuilder()
            .setBlob(row.getId())
            .addShards(
                LostShard.newBuilder()
                    .setDrive(ack)
                    .setName(ShardId.name(row, ack.getSlot()).toMessage())
                    .setLastChange(Repairs.lastChange(row, ack.getSlot()))));
  }

  private SlotAck ack(BlobRow row) {
    return TestBlobs.acks(metadata, row.getPg()).get(random.nextInt(3));
  }

  /** Of a version that is listed; 0: none is. */
  private long version() throws Exception {
    List<VersionEntry> entries =
        metadata.versions(new VersionsQuery("k1", "", "", name(), null, 1)).entries();
    return entries.isEmpty() ? 0 : entries.getFirst().getVersion();
  }

  private BlobRow inDebt() throws Exception {
    List<BlobRow> rows = metadata.blobsInDebt(0, null, 1);
    return rows.isEmpty() ? row().orElse(BlobRow.getDefaultInstance()) : rows.getFirst();
  }

  private Command.Builder repair(Command.Builder command) throws Exception {
    BlobRow row = inDebt();
    int slot = row.getDebtSlotsCount() > 0 ? row.getDebtSlots(0) : random.nextInt(3);
    SlotAck ack = TestBlobs.acks(metadata, row.getPg()).get(slot);
    return command.setRepairBlob(
        RepairBlob.newBuilder()
            .setBlob(row.getId())
            .addShards(
                RepairedShard.newBuilder()
                    .setAck(ack)
                    .setName(new BlobId(metadata.session(), sequence++).toMessage())
                    .setNameBefore(ShardId.name(row, ack.getSlot()).toMessage())
                    .setLastChange(Repairs.lastChange(row, ack.getSlot()))));
  }

  private Command.Builder ofSessions(Command.Builder command) {
    return random.nextBoolean()
        ? command.setEndSessions(EndSessions.newBuilder().setBelow(metadata.session()))
        : command.setRegisterSession(RegisterSession.getDefaultInstance());
  }
}
