package dev.ashlar.protocol.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.AbortUpload;
import dev.ashlar.protocol.message.AddProfile;
import dev.ashlar.protocol.message.AddedProfile;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CompletePart;
import dev.ashlar.protocol.message.CompleteUpload;
import dev.ashlar.protocol.message.CopyPart;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PartSummary;
import dev.ashlar.protocol.message.PgRow;
import dev.ashlar.protocol.message.RemoveProfile;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetDefaultProfile;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What every {@link MetadataClient} does; here with uploads. */
public abstract class MetadataClientContract extends AbstractObjectsContract {
  private static final long PART = 5L << 20;

  private static Command.Builder complete(String key, String id, CompletePart... parts) {
    return Command.newBuilder()
        .setCompleteUpload(
            CompleteUpload.newBuilder()
                .setBucket("b")
                .setKey(key)
                .setUploadId(id)
                .setEtag("many-2")
                .addAllParts(List.of(parts)));
  }

  private static CompletePart named(int number, long token) {
    return CompletePart.newBuilder().setNumber(number).setToken(token).build();
  }

  @Test
  void blobsOfAnAddedProfileAreFoundByTheirIds() throws Exception {
    PlacementMap before = client.placement();
    int group = before.slotDrives().size();
    Profile mirror = new Profile(1, 1, 4096);
    PgRow.Builder slots = PgRow.newBuilder().setPg(group);
    before
        .slotDrives()
        .getFirst()
        .subList(0, mirror.shards())
        .forEach(
            drive ->
                slots.addSlots(
                    DriveRow.newBuilder()
                        .setDriveHigh(drive.getMostSignificantBits())
                        .setDriveLow(drive.getLeastSignificantBits())));
    AddProfile.Builder add =
        AddProfile.newBuilder()
            .setBaseEpoch(before.epoch())
            .setProfile(
                AddedProfile.newBuilder()
                    .setName("HOT")
                    .setProfile(mirror.toMessage())
                    .addPgs(slots));
    ok(Command.newBuilder().setAddProfile(add));
    PlacementMap map = client.placement(before.epoch() + 1);
    assertEquals(mirror, map.ofClass("HOT").orElseThrow().profile());
    BlobId id = BlobId.of(client.session(), 1, sequence++);
    ok(put("k", blob(id, 1000).build()));
    assertEquals(group, object("k").blobs().getFirst().getPg());
    assertEquals(object("k").blobs(), client.blobs(List.of(id)));
    assertEquals(object("k").blobs(), client.blobsOfPlacementGroup(group, null, 10));
    RemoveProfile.Builder remove =
        RemoveProfile.newBuilder().setBaseEpoch(map.epoch()).setNumber(1);
    refused(ResultCode.DELETE_CONFLICT, Command.newBuilder().setRemoveProfile(remove));
    ok(
        Command.newBuilder()
            .setSetDefaultProfile(
                SetDefaultProfile.newBuilder().setBaseEpoch(map.epoch()).setNumber(1)));
    assertEquals("HOT", client.placement(map.epoch() + 1).standard().name());
  }

  @Test
  void anUploadBecomesAnObject() throws Exception {
    startUpload("k", "1");
    long replaced = putPart("k", "1", 1, blob(PART).build());
    long first = putPart("k", "1", 1, blob(PART).build());
    long unused = putPart("k", "1", 2, blob(PART).build());
    long last = putPart("k", "1", 7, blob(3).build());
    assertEquals(1, client.garbage(Long.MAX_VALUE, null, 10).size());
    assertEquals(
        List.of(2, 7),
        client.parts("b", "k", "1", 1, 10).stream().map(p -> p.getNumber()).toList());
    assertEquals(unused, client.parts("b", "k", "1", 1, 1).getFirst().getToken());
    refused(ResultCode.INVALID_PART, complete("k", "1", named(1, replaced), named(7, last)));
    refused(ResultCode.INVALID_PART, complete("k", "1", named(1, first), named(3, last)));
    refused(ResultCode.INVALID_PART, complete("k", "1"));
    refused(ResultCode.NO_SUCH_UPLOAD, complete("k", "2", named(1, first)));
    ok(complete("k", "1", named(1, first), named(7, last)));
    ObjectRecord object = object("k").object();
    assertEquals(PART + 3, object.getSummary().getSize());
    assertEquals(2, object.getSummary().getPartCount());
    assertEquals("many-2", object.getSummary().getEtag());
    assertEquals("me", object.getSummary().getOwner());
    assertEquals("x/y", object.getAttributes().getHeadersOrThrow("content-type"));
    assertEquals(
        List.of(1, 7), object.getPartsList().stream().map(PartSummary::getNumber).toList());
    assertEquals(2, object.getSlicesCount());
    assertEquals(2, client.garbage(Long.MAX_VALUE, null, 10).size());
    assertTrue(client.upload("b", "k", "1").isEmpty());
    assertEquals(List.of(), client.parts("b", "k", "1", 0, 10));
  }

  @Test
  void aSmallPartMayOnlyBeTheLast() throws Exception {
    startUpload("k", "1");
    long small = putPart("k", "1", 1, blob(PART - 1).build());
    long last = putPart("k", "1", 2, blob(3).build());
    refused(ResultCode.ENTITY_TOO_SMALL, complete("k", "1", named(1, small), named(2, last)));
    ok(complete("k", "1", named(1, small)));
  }

  @Test
  void aCopiedPartRefersToARangeOfItsSource() throws Exception {
    ok(put("k", blob(100).build(), blob(200).build()));
    startUpload("u", "1");
    CopyPart.Builder copy =
        CopyPart.newBuilder()
            .setBucket("b")
            .setKey("u")
            .setUploadId("1")
            .setPart(PartRow.newBuilder().setNumber(1))
            .setSourceBucket("b")
            .setSourceKey("k")
            .setSourceVersion(object("k").object().getVersion())
            .setSourceOffset(90)
            .setSourceLength(20);
    ok(Command.newBuilder().setCopyPart(copy));
    PartRow part = client.parts("b", "u", "1", 0, 10).getFirst();
    assertEquals(20, part.getSize());
    assertEquals(List.of(90L, 0L), part.getSlicesList().stream().map(s -> s.getOffset()).toList());
    assertEquals(List.of(10L, 10L), part.getSlicesList().stream().map(s -> s.getLength()).toList());
    refused(
        ResultCode.INVALID_RANGE,
        Command.newBuilder().setCopyPart(copy.clone().setSourceLength(211)));
    ok(delete("k"));
    assertEquals(List.of(), client.garbage(Long.MAX_VALUE, null, 10));
    ok(
        Command.newBuilder()
            .setAbortUpload(AbortUpload.newBuilder().setBucket("b").setKey("u").setUploadId("1")));
    assertEquals(2, client.garbage(Long.MAX_VALUE, null, 10).size());
  }

  @Test
  void uploadsAreListedByKeyThenId() throws Exception {
    startUpload("x/1", "b");
    startUpload("x/1", "a");
    startUpload("x/2", "c");
    startUpload("y", "d");
    UploadsPage page = client.uploads(new UploadsQuery("b", "", "", "x/1", "a", 2));
    assertEquals(List.of("b", "c"), page.uploads().stream().map(u -> u.getUploadId()).toList());
    assertTrue(page.truncated());
    page = client.uploads(new UploadsQuery("b", "", "", "x/1", "", 10));
    assertEquals(List.of("c", "d"), page.uploads().stream().map(u -> u.getUploadId()).toList());
    page = client.uploads(new UploadsQuery("b", "", "/", "", "", 10));
    assertEquals(List.of("x/"), page.commonPrefixes());
    assertEquals(List.of("d"), page.uploads().stream().map(u -> u.getUploadId()).toList());
    assertFalse(page.truncated());
  }
}
