package dev.ashlar.gateway.access.policy;

import dev.ashlar.gateway.access.policy.value.CodePoints;
import dev.ashlar.gateway.access.policy.value.WildcardPattern;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The names of the actions of S3, IAM and STS, also of those that are not served: policies that
 * were written for AWS are to be accepted, and misspelt names are not.
 */
final class KnownActions {
  private static final String S3 =
      """
      AbortMultipartUpload AssociateAccessGrantsIdentityCenter BypassGovernanceRetention
      CreateAccessGrant CreateAccessGrantsInstance CreateAccessGrantsLocation CreateAccessPoint
      CreateAccessPointForObjectLambda CreateBucket CreateBucketMetadataTableConfiguration
      CreateJob CreateMultiRegionAccessPoint CreateStorageLensGroup DeleteAccessGrant
      DeleteAccessGrantsInstance DeleteAccessGrantsInstanceResourcePolicy
      DeleteAccessGrantsLocation DeleteAccessPoint DeleteAccessPointForObjectLambda
      DeleteAccessPointPolicy DeleteAccessPointPolicyForObjectLambda DeleteBucket
      DeleteBucketMetadataTableConfiguration DeleteBucketOwnershipControls DeleteBucketPolicy
      DeleteBucketWebsite DeleteJobTagging DeleteMultiRegionAccessPoint DeleteObject
      DeleteObjectAnnotation DeleteObjectTagging DeleteObjectVersion
      DeleteObjectVersionAnnotation DeleteObjectVersionTagging
      DeleteStorageLensConfiguration DeleteStorageLensConfigurationTagging
      DeleteStorageLensGroup DescribeJob DescribeMultiRegionAccessPointOperation
      DissociateAccessGrantsIdentityCenter GetAccelerateConfiguration GetAccessGrant
      GetAccessGrantsInstance GetAccessGrantsInstanceForPrefix
      GetAccessGrantsInstanceResourcePolicy GetAccessGrantsLocation GetAccessPoint
      GetAccessPointConfigurationForObjectLambda GetAccessPointForObjectLambda
      GetAccessPointPolicy GetAccessPointPolicyForObjectLambda GetAccessPointPolicyStatus
      GetAccessPointPolicyStatusForObjectLambda GetAccountPublicAccessBlock
      GetAnalyticsConfiguration GetBucketAbac GetBucketAcl GetBucketCORS GetBucketLocation
      GetBucketLogging GetBucketMetadataTableConfiguration GetBucketNotification
      GetBucketObjectLockConfiguration GetBucketOwnershipControls GetBucketPolicy
      GetBucketPolicyStatus GetBucketPublicAccessBlock GetBucketRequestPayment
      GetBucketTagging GetBucketVersioning GetBucketWebsite GetDataAccess
      GetEncryptionConfiguration GetIntelligentTieringConfiguration GetInventoryConfiguration
      GetJobTagging GetLifecycleConfiguration GetMetricsConfiguration
      GetMultiRegionAccessPoint GetMultiRegionAccessPointPolicy
      GetMultiRegionAccessPointPolicyStatus GetMultiRegionAccessPointRoutes GetObject
      GetObjectAcl GetObjectAnnotation GetObjectAttributes GetObjectLegalHold
      GetObjectRetention GetObjectTagging GetObjectTorrent GetObjectVersion
      GetObjectVersionAcl GetObjectVersionAnnotation GetObjectVersionAttributes
      GetObjectVersionForReplication GetObjectVersionTagging GetObjectVersionTorrent
      GetReplicationConfiguration GetStorageLensConfiguration
      GetStorageLensConfigurationTagging GetStorageLensDashboard GetStorageLensGroup
      InitiateReplication ListAccessGrants ListAccessGrantsInstances
      ListAccessGrantsLocations ListAccessPoints ListAccessPointsForObjectLambda
      ListAllMyBuckets ListBucket ListBucketMultipartUploads ListBucketVersions
      ListCallerAccessGrants ListJobs ListMultiRegionAccessPoints ListMultipartUploadParts
      ListObjectAnnotations ListObjectVersionAnnotations ListStorageLensConfigurations
      ListStorageLensGroups ListTagsForResource ObjectOwnerOverrideToBucketOwner
      PauseReplication PutAccelerateConfiguration PutAccessGrantsInstanceResourcePolicy
      PutAccessPointConfigurationForObjectLambda PutAccessPointPolicy
      PutAccessPointPolicyForObjectLambda PutAccessPointPublicAccessBlock
      PutAccountPublicAccessBlock PutAnalyticsConfiguration PutBucketAbac PutBucketAcl
      PutBucketCORS PutBucketLogging PutBucketNotification PutBucketObjectLockConfiguration
      PutBucketOwnershipControls PutBucketPolicy PutBucketPublicAccessBlock
      PutBucketRequestPayment PutBucketTagging PutBucketVersioning PutBucketWebsite
      PutEncryptionConfiguration PutIntelligentTieringConfiguration PutInventoryConfiguration
      PutJobTagging PutLifecycleConfiguration PutMetricsConfiguration
      PutMultiRegionAccessPointPolicy PutObject PutObjectAcl PutObjectAnnotation
      PutObjectLegalHold PutObjectRetention PutObjectTagging PutObjectVersionAcl
      PutObjectVersionAnnotation PutObjectVersionTagging PutReplicationConfiguration
      PutStorageLensConfiguration PutStorageLensConfigurationTagging ReplicateDelete
      ReplicateObject ReplicateTags RestoreObject SubmitMultiRegionAccessPointRoutes
      TagResource UntagResource UpdateAccessGrantsLocation
      UpdateBucketMetadataInventoryTableConfiguration
      UpdateBucketMetadataJournalTableConfiguration UpdateJobPriority UpdateJobStatus
      UpdateObjectEncryption UpdateStorageLensGroup
      """;

  private static final String IAM =
      """
      AcceptDelegationRequest AddClientIDToOpenIDConnectProvider AddRoleToInstanceProfile
      AddUserToGroup AssociateDelegationRequest AttachGroupPolicy AttachRolePolicy
      AttachUserPolicy ChangePassword CreateAccessKey CreateAccountAlias
      CreateDelegationRequest CreateGroup CreateInstanceProfile CreateLoginProfile
      CreateOpenIDConnectProvider CreatePolicy CreatePolicyVersion CreateRole
      CreateSAMLProvider CreateServiceLinkedRole CreateServiceSpecificCredential CreateUser
      CreateVirtualMFADevice DeactivateMFADevice DeleteAccessKey DeleteAccountAlias
      DeleteAccountPasswordPolicy DeleteCloudFrontPublicKey DeleteGroup DeleteGroupPolicy
      DeleteInstanceProfile DeleteLoginProfile DeleteOpenIDConnectProvider DeletePolicy
      DeletePolicyVersion DeleteRole DeleteRolePermissionsBoundary DeleteRolePolicy
      DeleteSAMLProvider DeleteSSHPublicKey DeleteServerCertificate DeleteServiceLinkedRole
      DeleteServiceSpecificCredential DeleteSigningCertificate DeleteUser
      DeleteUserPermissionsBoundary DeleteUserPolicy DeleteVirtualMFADevice DetachGroupPolicy
      DetachRolePolicy DetachUserPolicy DisableOrganizationsRootCredentialsManagement
      DisableOrganizationsRootSessions DisableOutboundWebIdentityFederation EnableMFADevice
      EnableOrganizationsRootCredentialsManagement EnableOrganizationsRootSessions
      EnableOutboundWebIdentityFederation GenerateCredentialReport
      GenerateOrganizationsAccessReport GenerateServiceLastAccessedDetails
      GetAccessKeyLastUsed GetAccountAuthorizationDetails GetAccountEmailAddress
      GetAccountName GetAccountPasswordPolicy GetAccountSummary GetCloudFrontPublicKey
      GetContextKeysForCustomPolicy GetContextKeysForPrincipalPolicy GetCredentialReport
      GetDelegationRequest GetGroup GetGroupPolicy GetHumanReadableSummary GetInstanceProfile
      GetLoginProfile GetMFADevice GetOpenIDConnectProvider GetOrganizationsAccessReport
      GetOutboundWebIdentityFederationInfo GetPolicy GetPolicyVersion GetRole GetRolePolicy
      GetSAMLProvider GetSSHPublicKey GetServerCertificate GetServiceLastAccessedDetails
      GetServiceLastAccessedDetailsWithEntities GetServiceLinkedRoleDeletionStatus GetUser
      GetUserPolicy ListAccessKeys ListAccountAliases ListAttachedGroupPolicies
      ListAttachedRolePolicies ListAttachedUserPolicies ListCloudFrontPublicKeys
      ListDelegationRequests ListEntitiesForPolicy ListGroupPolicies ListGroups
      ListGroupsForUser ListInstanceProfileTags ListInstanceProfiles
      ListInstanceProfilesForRole ListMFADeviceTags ListMFADevices
      ListOpenIDConnectProviderTags ListOpenIDConnectProviders ListOrganizationsFeatures
      ListPolicies ListPoliciesGrantingServiceAccess ListPolicyTags ListPolicyVersions
      ListRolePolicies ListRoleTags ListRoles ListSAMLProviderTags ListSAMLProviders
      ListSSHPublicKeys ListSTSRegionalEndpointsStatus ListServerCertificateTags
      ListServerCertificates ListServiceSpecificCredentials ListSigningCertificates
      ListUserPolicies ListUserTags ListUsers ListVirtualMFADevices PassRole PutGroupPolicy
      PutRolePermissionsBoundary PutRolePolicy PutUserPermissionsBoundary PutUserPolicy
      RejectDelegationRequest RemoveClientIDFromOpenIDConnectProvider
      RemoveRoleFromInstanceProfile RemoveUserFromGroup ResetServiceSpecificCredential
      ResyncMFADevice SendDelegationToken SetDefaultPolicyVersion SetSTSRegionalEndpointStatus
      SetSecurityTokenServicePreferences SimulateCustomPolicy SimulatePrincipalPolicy
      TagInstanceProfile TagMFADevice TagOpenIDConnectProvider TagPolicy TagRole
      TagSAMLProvider TagServerCertificate TagUser UntagInstanceProfile UntagMFADevice
      UntagOpenIDConnectProvider UntagPolicy UntagRole UntagSAMLProvider
      UntagServerCertificate UntagUser UpdateAccessKey UpdateAccountEmailAddress
      UpdateAccountName UpdateAccountPasswordPolicy UpdateAssumeRolePolicy
      UpdateCloudFrontPublicKey UpdateDelegationRequest UpdateGroup UpdateLoginProfile
      UpdateOpenIDConnectProviderThumbprint UpdateRole UpdateRoleDescription
      UpdateSAMLProvider UpdateSSHPublicKey UpdateServerCertificate
      UpdateServiceSpecificCredential UpdateSigningCertificate UpdateUser
      UploadCloudFrontPublicKey UploadSSHPublicKey UploadServerCertificate
      UploadSigningCertificate
      """;

  private static final String STS =
      """
      AssumeRole AssumeRoleWithSAML AssumeRoleWithWebIdentity AssumeRoot
      DecodeAuthorizationMessage GetAccessKeyInfo GetCallerIdentity GetDelegatedAccessToken
      GetFederationToken GetServiceBearerToken GetSessionToken GetWebIdentityToken SetContext
      SetSourceIdentity TagGetWebIdentityToken TagSession
      """;

  private static final Map<String, Map<String, CodePoints>> BY_SERVICE =
      Map.of("s3", names(S3), "iam", names(IAM), "sts", names(STS));

  private KnownActions() {}

  /** Whether the actions of this service are known here; in lower case. */
  static boolean isKnownService(String service) {
    return BY_SERVICE.containsKey(service);
  }

  /**
   * @param names in lower case, without the service
   */
  static boolean anyMatches(String service, WildcardPattern names) {
    return actions(service).values().stream().anyMatch(names::matches);
  }

  /**
   * @param name in lower case, without the service
   */
  static boolean contains(String service, String name) {
    return actions(service).containsKey(name);
  }

  private static Map<String, CodePoints> actions(String service) {
    return BY_SERVICE.getOrDefault(service, Map.of());
  }

  private static Map<String, CodePoints> names(String text) {
    return Arrays.stream(text.strip().split("\\s+", -1))
        .map(name -> name.toLowerCase(Locale.ROOT))
        .collect(Collectors.toUnmodifiableMap(name -> name, CodePoints::of));
  }
}
