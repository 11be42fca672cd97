-- Pictures that their merchants removed were still served.
DELETE FROM logos USING merchants WHERE merchants.id = logos.merchant_id AND merchants.branding ->> 'logoHash' IS NULL;
