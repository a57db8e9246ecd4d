package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.WriteConditions;
import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.Precondition;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Deletes up to a thousand keys and reports the outcome of each. */
public record DeleteObjectsHandler(Backend backend) {
  private static final int KEYS_MAX = 1000;
  // As many keys of the greatest length fit into one Raft entry.
  private static final int KEYS_PER_COMMAND = 250;

  private record Deletion(String key, @Nullable String versionId, @Nullable String etag) {}

  private record Failure(String key, S3Error error) {}

  private record Outcome(List<Deletion> deleted, List<Failure> failures) {}

  public HttpAnswer handle(S3Request.DeleteObjects request, Permit permit, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    Element document = XmlReader.read(BodyIngest.document(body), "Delete");
    List<Deletion> deletions = deletions(document);
    Outcome outcome = delete(request.bucket(), permit, deletions);
    boolean isQuiet = "true".equals(document.childText("Quiet"));
    return Answers.xml(document(outcome, isQuiet));
  }

  private static List<Deletion> deletions(Element document) throws S3Exception {
    List<Deletion> deletions = new ArrayList<>();
    for (Element child : document.children()) {
      if (child.name().equals("Object")) {
        if (child.child("LastModifiedTime") != null || child.child("Size") != null) {
          throw new S3Exception(S3Error.NOT_IMPLEMENTED);
        }
        String key = child.required("Key");
        if (key.isEmpty()) {
          throw new S3Exception(S3Error.MALFORMED_XML);
        }
        deletions.add(new Deletion(key, child.childText("VersionId"), child.childText("ETag")));
      }
    }
    if (deletions.isEmpty() || deletions.size() > KEYS_MAX) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
    return deletions;
  }

  private Outcome delete(String bucket, Permit permit, List<Deletion> deletions)
      throws S3Exception, MetadataUnavailableException {
    Outcome outcome = new Outcome(new ArrayList<>(), new ArrayList<>());
    List<Deletion> unconditional = new ArrayList<>();
    for (Deletion deletion : deletions) {
      String version = deletion.versionId;
      Need.Resource key = new Need.Resource.Key(bucket, deletion.key);
      if (!permit.isAllowed(Need.of("s3:DeleteObject", key))) {
        outcome.failures.add(new Failure(deletion.key, S3Error.ACCESS_DENIED));
      } else if (version != null && !version.isEmpty() && !version.equals("null")) {
        outcome.failures.add(new Failure(deletion.key, S3Error.NO_SUCH_VERSION));
      } else if (deletion.etag != null) {
        deleteIfMatch(bucket, deletion, deletion.etag, outcome);
      } else {
        unconditional.add(deletion);
      }
    }
    for (int from = 0; from < unconditional.size(); from += KEYS_PER_COMMAND) {
      List<Deletion> some =
          unconditional.subList(from, Math.min(from + KEYS_PER_COMMAND, unconditional.size()));
      submit(DeleteObjects.newBuilder().setBucket(bucket), some);
      outcome.deleted.addAll(some);
    }
    return outcome;
  }

  private void deleteIfMatch(String bucket, Deletion deletion, String etag, Outcome outcome)
      throws MetadataUnavailableException {
    Precondition condition = Precondition.newBuilder().setIfMatch(Etags.unquote(etag)).build();
    try {
      WriteConditions.check(
          backend.metadata().object(bucket, deletion.key), condition, deletion.key);
      submit(
          DeleteObjects.newBuilder().setBucket(bucket).setPrecondition(condition),
          List.of(deletion));
      outcome.deleted.add(deletion);
    } catch (S3Exception e) {
      outcome.failures.add(new Failure(deletion.key, e.error()));
    }
  }

  private void submit(DeleteObjects.Builder delete, List<Deletion> deletions)
      throws S3Exception, MetadataUnavailableException {
    deletions.forEach(deletion -> delete.addKeys(deletion.key));
    backend.submit(Command.newBuilder().setDeleteObjects(delete));
  }

  private static XmlWriter document(Outcome outcome, boolean isQuiet) {
    XmlWriter xml = new XmlWriter().openRoot("DeleteResult");
    if (!isQuiet) {
      for (Deletion deletion : outcome.deleted) {
        xml.open("Deleted")
            .element("Key", deletion.key)
            .optional("VersionId", deletion.versionId)
            .close();
      }
    }
    for (Failure failure : outcome.failures) {
      xml.open("Error")
          .element("Key", failure.key)
          .element("Code", failure.error.code())
          .element("Message", failure.error.message())
          .close();
    }
    return xml.close();
  }
}
