package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.FactChanges;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.TagSet;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.CommandResult;
import io.netty.handler.codec.http.HttpHeaders;

/** Reads and changes the tags of an object. Changing them makes no new version. */
public record ObjectTaggingHandler(Backend backend) {
  public static HttpAnswer handle(S3Request.GetObjectTagging request, Permit permit) {
    TagSet tags = new TagSet(permit.object().object().getFacts().getTagsList());
    HttpHeaders headers = Answers.headers();
    Answers.addVersion(headers, permit);
    return Answers.xml(tags.document(), headers);
  }

  /** Decides here, as policies may ask which tags the body brings. */
  public HttpAnswer handle(S3Request.PutObjectTagging request, Caller caller, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    TagSet tags = TagSet.of(BodyIngest.document(body), TagSet.OBJECT_TAGS_MAX);
    Caller bringing = caller.bringing(tags.tags());
    Permit permit = backend.access().require(bringing, request.needsOfObject());
    return set(request, permit, bringing, request.needsOfObject(), tags, 200);
  }

  public HttpAnswer handle(S3Request.DeleteObjectTagging request, Permit permit)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    return set(request, permit, permit.caller(), request.needs(), TagSet.NONE, 204);
  }

  private HttpAnswer set(
      S3Request.FactsRequest request,
      Permit permit,
      Caller caller,
      Need need,
      TagSet tags,
      int status)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    CommandResult result =
        new FactChanges(backend)
            .set(
                request.stored(),
                permit,
                caller,
                need,
                (command, decided) -> command.getTagsBuilder().addAllTags(tags.tags()));
    ErrorMapping.requireOk(result);
    HttpHeaders headers = Answers.headers();
    if (VersionId.areKept(permit.bucket())) {
      headers.set(VersionId.HEADER, VersionId.of(result.getVersion(), result.getVersioned()));
    }
    return Answers.empty(status, headers);
  }
}
