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
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.TagSet;
import dev.ashlar.protocol.client.MetadataUnavailableException;

/** Reads and changes the tags of an object. Changing them makes no new version. */
public record ObjectTaggingHandler(Backend backend) {
  public static HttpAnswer handle(S3Request.GetObjectTagging request, Permit permit) {
    TagSet tags = new TagSet(permit.object().object().getFacts().getTagsList());
    return Answers.xml(tags.document(), Answers.headers());
  }

  /** Decides here, as policies may ask which tags the body brings. */
  public HttpAnswer handle(S3Request.PutObjectTagging request, Caller caller, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    TagSet tags = TagSet.of(BodyIngest.document(body), TagSet.OBJECT_TAGS_MAX);
    Caller bringing = caller.bringing(tags.tags());
    Permit permit = backend.access().require(bringing, request.needsOfObject());
    set(request, permit, bringing, request.needsOfObject(), tags);
    return Answers.empty(200);
  }

  public HttpAnswer handle(S3Request.DeleteObjectTagging request, Permit permit)
      throws S3Exception, MetadataUnavailableException {
    set(request, permit, permit.caller(), request.needs(), TagSet.NONE);
    return Answers.empty(204);
  }

  private void set(
      S3Request.KeyRequest request, Permit permit, Caller caller, Need need, TagSet tags)
      throws S3Exception, MetadataUnavailableException {
    ErrorMapping.requireOk(
        new FactChanges(backend)
            .set(
                request,
                permit,
                caller,
                need,
                change -> change.getTagsBuilder().addAllTags(tags.tags())));
  }
}
