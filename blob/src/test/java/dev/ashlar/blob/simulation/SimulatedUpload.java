package dev.ashlar.blob.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.AbortUpload;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CompletePart;
import dev.ashlar.protocol.message.CompleteUpload;
import dev.ashlar.protocol.message.CopyPart;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PutPart;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.UploadRow;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;

/**
 * A multipart upload: parts are written, copied and replaced, and then one of them becomes the
 * object, all others go; or it is aborted, or left alone. All parts but the last would have to have
 * 5 MiB, so the object has one.
 */
final class SimulatedUpload {
  private static final int STEPS_MAX = 4;
  private static final int NUMBERS = 2;

  private final SimulatedClient client;
  private final SimulatedProcess process;
  private final BytesModel model;
  private final Random random;
  private final String key;
  private final String id;
  private final Map<Integer, Part> parts = new TreeMap<>();

  /** A part that was acknowledged. */
  private record Part(int number, long token, byte[] bytes) {}

  SimulatedUpload(
      SimulatedClient client,
      SimulatedProcess process,
      BytesModel model,
      Random random,
      String key) {
    this.client = client;
    this.process = process;
    this.model = model;
    this.random = random;
    this.key = key;
    id = "u" + Long.toHexString(random.nextLong());
  }

  void run() throws Exception {
    UploadRow row =
        UploadRow.newBuilder()
            .setBucket(SimulatedClient.BUCKET)
            .setKey(key)
            .setUploadId(id)
            .build();
    require(Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(row)));
    for (int i = 1 + random.nextInt(STEPS_MAX); i > 0 && !process.isDead(); i--) {
      int number = 1 + random.nextInt(NUMBERS);
      if (random.nextInt(3) == 0) {
        copyPart(number);
      } else {
        putPart(number);
      }
    }
    int end = random.nextInt(6);
    if (end > 1 && !parts.isEmpty()) {
      List<Part> all = List.copyOf(parts.values());
      complete(all.get(random.nextInt(all.size())));
    } else if (end > 0) {
      abort(process, row);
    }
  }

  private void require(Command.Builder command) throws Exception {
    assertEquals(ResultCode.OK, process.client.submit(command).getCode());
  }

  private void putPart(int number) throws Exception {
    BytesModel.State before = model.state(key);
    byte[] bytes = client.someBytes();
    PutPart.Builder put =
        PutPart.newBuilder()
            .setBucket(SimulatedClient.BUCKET)
            .setKey(key)
            .setUploadId(id)
            .setPart(PartRow.newBuilder().setNumber(number).setSize(bytes.length));
    try (ObjectWriter writer = process.store.newWriter(bytes.length)) {
      client.writePieces(bytes, writer::write);
      CommandResult result =
          writer.commit(blobs -> Command.newBuilder().setPutPart(put.clone().addAllBlobs(blobs)));
      if (result.getCode() == ResultCode.OK) {
        parts.put(number, new Part(number, result.getVersion(), bytes));
      } else {
        boolean isRemoved = result.getCode() == ResultCode.NO_SUCH_PROFILE;
        assertTrue(isRemoved || result.getCode() == ResultCode.NOT_DURABLE, "answered");
        assertTrue(isRemoved || client.hadFaults(), "not durable");
      }
    } catch (DataUnavailableException e) {
      client.checkExcuse(key, before, e);
    }
  }

  /** Some of another object, or of what this key is now. */
  private void copyPart(int number) throws Exception {
    String source = client.anyKey();
    Optional<ObjectRead> object = client.lookUp(source);
    byte[] whole = process.seen().bytes();
    if (object.isEmpty() || whole == null || whole.length == 0) {
      return;
    }
    int from = random.nextInt(whole.length);
    int to = from + 1 + random.nextInt(whole.length - from);
    CopyPart.Builder copy =
        CopyPart.newBuilder()
            .setBucket(SimulatedClient.BUCKET)
            .setKey(key)
            .setUploadId(id)
            .setPart(PartRow.newBuilder().setNumber(number))
            .setSourceBucket(SimulatedClient.BUCKET)
            .setSourceKey(source)
            .setSourceVersion(object.get().object().getVersion())
            .setSourceMoved(object.get().object().getMoved())
            .setSourceOffset(from)
            .setSourceLength(to - from);
    client.write(
        source,
        process.seen(),
        shared -> shared.share(source),
        List.of(ResultCode.CONDITIONAL_CONFLICT, ResultCode.NO_SUCH_KEY),
        () -> {
          CommandResult result =
              process.client.submit(Command.newBuilder().setCopyPart(copy.clone()));
          if (result.getCode() == ResultCode.OK) {
            byte[] bytes = Arrays.copyOfRange(whole, from, to);
            parts.put(number, new Part(number, result.getVersion(), bytes));
          }
          return result;
        });
  }

  private void complete(Part part) throws Exception {
    CompleteUpload.Builder complete =
        CompleteUpload.newBuilder()
            .setBucket(SimulatedClient.BUCKET)
            .setKey(key)
            .setUploadId(id)
            .setEtag("e-1")
            .addParts(CompletePart.newBuilder().setNumber(part.number()).setToken(part.token()));
    client.write(
        key,
        model.state(key),
        to -> to.put(key, part.bytes(), false),
        List.of(),
        () -> process.client.submit(Command.newBuilder().setCompleteUpload(complete)));
  }

  static void abort(SimulatedProcess process, UploadRow upload) throws Exception {
    AbortUpload.Builder abort =
        AbortUpload.newBuilder()
            .setBucket(upload.getBucket())
            .setKey(upload.getKey())
            .setUploadId(upload.getUploadId());
    assertEquals(
        ResultCode.OK, process.client.submit(Command.newBuilder().setAbortUpload(abort)).getCode());
  }
}
